"""Prints a greeting, as beginners do."""

import time

print("Hello, I am a bot", flush=True)
time.sleep(1000)
