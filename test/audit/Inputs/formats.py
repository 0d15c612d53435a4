"""Checks the JSON and the SARIF that `mlac audit` prints: their structure, and that both say what was found."""
import json
import subprocess
import sys

program, module = sys.argv[1:]
SIZES = ["--layers", "78", "--pool-tokens", "495000"]


def audit(form):
    done = subprocess.run(["mlac", "audit", program, module, "--format", form, *SIZES], capture_output=True, text=True)
    assert done.returncode == 1, (done.returncode, done.stderr)
    return json.loads(done.stdout)


def check_json(report):
    assert report["version"] == 1
    assert (report["layers"], report["poolTokens"], report["bandwidth"]) == (78, 495000, 1.79e12)
    cache = next(operand for operand in report["operands"] if operand["role"] == "cache")
    assert (cache["operand"], cache["storage"], cache["bytesPerToken"]) == ("kv", "e4m3", 576)
    assert cache["bytesPerStep"] == 495000 * 576 * 78
    assert cache["cast"][0]["line"] == 13 and cache["dequantised"] == []
    ours, theirs = report["findings"]
    for finding in ours, theirs:
        assert finding["bytesPerLayer"] == 495000 * 576 * 3 == 855360000
        assert finding["bytesPerStep"] == 855360000 * 78
        assert abs(finding["milliseconds"] - 37.27) < 0.01
        assert (finding["from"], finding["to"]) == ("e4m3", "bf16")
    assert [note["place"]["line"] for note in theirs["notes"]] == [2, 3]
    assert "compute bf16" in ours["fix"]
    assert len(report["skipped"]) == 1 and "vendor" in report["skipped"][0]["text"]
    return ours, theirs


def check_location(location):
    physical = location["physicalLocation"]
    uri = physical["artifactLocation"]["uri"]
    assert uri and " " not in uri and "\\" not in uri
    assert physical["region"]["startLine"] >= 1 and physical["region"]["startColumn"] >= 1
    return physical["region"]["startLine"]


def check_rules(driver):
    assert driver["name"] == "mlac" and driver["version"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    return [rule["id"] for rule in driver["rules"]]


def check_sarif(log, findings):
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = check_rules(run["tool"]["driver"])
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "note") and result["message"]["text"]
        assert len(result["locations"]) == 1
    casts = [result for result in run["results"] if result["ruleId"] == "buffer-cast"]
    assert len(casts) == len(findings)
    for result, finding in zip(casts, findings):
        assert check_location(result["locations"][0]) == finding["place"]["line"]
        related = result["relatedLocations"]
        assert [check_location(place) for place in related] == [note["place"]["line"] for note in finding["notes"]]
        assert [place["message"]["text"] for place in related] == [note["text"] for note in finding["notes"]]
        assert len({place["id"] for place in related}) == len(related)
        assert finding["message"] in result["message"]["text"] and finding["fix"] in result["message"]["text"]
    assert sum(result["ruleId"] == "buffer-cast-unknown" for result in run["results"]) == 1


check_sarif(audit("sarif"), check_json(audit("json")))
