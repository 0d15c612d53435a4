"""Runs a command whose files may have some bytes only, and prints its exit status: limited.py BYTES COMMAND..."""
import resource
import subprocess
import sys

size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
# SIGXFSZ stays ignored, so that the write fails instead of ending the process.
print("exit status", subprocess.run(sys.argv[2:], restore_signals=False).returncode)
