"""The ATM of atm.iox in Python, with a bank that grants every debit; faults can be switched on.

    ioxide case examples/atm/atm.iox --purpose cash --format pytest > test_atm.py
    IOXIDE_SUT='stdio:python3 examples/atm/atm.py' PYTHONPATH=sdk/python python3 test_atm.py

--late asks the bank too late, --more pays too much, --silent forgets to pay, --refuse has a bank that refuses.
"""

import sys
import threading
import time

from ioxide_adapter import Adapter, on_input

ATM_ID = 7
FEE = 2


class Atm(Adapter):
    outputs = {
        "Debit": {"rid": "int", "amount": "int", "machine": "int"},
        "Abort": {"rid": "int"},
        "Cash": {"amt": "int"},
        "Log": {"rid_ret": "int", "stat": "int", "mid_ret": "int"},
        # Somebody else sends it; the adapter reports what it sees.
        "Auth": {"rid_ret": "int", "stat": "int", "mid_ret": "int"},
    }

    def reset(self) -> None:
        self.request = 40

    @on_input("Transc")
    def transc(self, amt: int, tb: object) -> None:
        self.request += 1
        threading.Thread(target=self.serve, args=(self.request, amt), daemon=True).start()

    def serve(self, request: int, amount: int) -> None:
        time.sleep(1.5 if "--late" in sys.argv else 0.1)
        self.emit("Debit", rid=request, amount=amount + FEE, machine=ATM_ID)
        time.sleep(0.1)
        granted = 0 if "--refuse" in sys.argv else 1
        self.emit("Auth", rid_ret=request, stat=granted, mid_ret=ATM_ID)
        time.sleep(0.1)
        if not granted:
            self.emit("Abort", rid=request)
        elif "--silent" not in sys.argv:
            self.emit("Cash", amt=amount + (1 if "--more" in sys.argv else 0))


if __name__ == "__main__":
    Atm().run()
