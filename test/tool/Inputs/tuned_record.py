"""Writes a record of `mlac tune --save` by hand: tuned_record.py TUNE_JSON DEVICE SCHEDULE FOLDER. The key is computed here, apart from the
code that reads it."""
import hashlib
import json
import os
import sys

tuned, device, schedule, folder = sys.argv[1:]
with open(tuned) as file:
    key = json.load(file)
parts = [key["form"], key["target"], key["profile"], device]
text = "mlac tuned key 1\n" + "".join(f"{len(part)}\n{part}\n" for part in parts)
record = {"version": 1, "form": parts[0], "target": parts[1], "profile": parts[2], "device": device, "schedule": schedule,
          "microseconds": 1.0, "predicted": 1.0, "kernel": "k", "measured": "by hand", "compiler": "test"}
with open(os.path.join(folder, hashlib.sha256(text.encode()).hexdigest() + ".json"), "w") as file:
    json.dump(record, file)
