#!/usr/bin/env python3
"""A mail server that throws everything away: server.py PORT, with the aiosmtpd that PYTHONPATH leads to."""
import sys
import threading

import aiosmtpd.smtp
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink

# Newer versions hang up after a few commands that they do not know; tests have many.
aiosmtpd.smtp.BOGUS_LIMIT = 100_000

if __name__ == "__main__":
    Controller(Sink(), hostname="127.0.0.1", port=int(sys.argv[1])).start()
    threading.Event().wait()
