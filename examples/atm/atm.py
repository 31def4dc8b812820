"""The ATM of atm.iox in Python, with a bank that grants every debit; faults can be switched on.

    PYTHONPATH=sdk/python ioxide test examples/atm/atm.iox --sut 'stdio:python3 examples/atm/atm.py'

It has virtual time, so this takes no longer than it must; `--clock wall` tests it on the clock of this machine.
"""

import argparse
from fractions import Fraction
from typing import Any

from ioxide_adapter import Adapter, on_input

ATM_ID = 7
FEE = 2

SHORT = 0.1
"""How many seconds machine and bank think, if nothing is wrong with them."""


class Atm(Adapter):
    virtual_time = True
    outputs = {
        "Debit": {"rid": "int", "amount": "int", "machine": "int"},
        "Abort": {"rid": "int"},
        "Cash": {"amt": "int"},
        "Log": {"rid_ret": "int", "stat": "int", "mid_ret": "int"},
    }
    # The bank sends it to all machines; the adapter reports what it sees.
    observed = {"Auth": {"rid_ret": "int", "stat": "int", "mid_ret": "int"}}

    def __init__(self, faults: argparse.Namespace) -> None:
        self.faults = faults

    def reset(self) -> None:
        self.request = 40
        self.is_busy = False

    @on_input("Transc")
    def transc(self, amt: int, tb: Any) -> None:
        if self.is_busy:
            return
        self.is_busy = True
        self.request += 1
        if 10 <= amt <= 1000 and Fraction(tb) >= 4:
            self.after(1.5 if self.faults.late else SHORT, self.debit, amt)
        else:
            self.after(SHORT, self.abort)

    def debit(self, amount: int) -> None:
        self.emit("Debit", rid=self.request, amount=amount + FEE, machine=ATM_ID)
        self.after(SHORT, self.answer, amount)

    def answer(self, amount: int) -> None:
        """The bank speaks."""
        status = 0 if self.faults.refuse else 1
        self.emit("Auth", rid_ret=self.request, stat=status, mid_ret=ATM_ID)
        if self.faults.refuse:
            self.after(SHORT, self.abort)
        elif not self.faults.silent:
            self.after(SHORT, self.pay, amount)

    def pay(self, amount: int) -> None:
        self.is_busy = False
        self.emit("Cash", amt=amount + (1 if self.faults.more else 0))

    def abort(self) -> None:
        self.is_busy = False
        self.emit("Abort", rid=self.request)


def main() -> None:
    words = argparse.ArgumentParser(description="A cash machine to be tested.")
    words.add_argument("--late", action="store_true", help="ask the bank too late")
    words.add_argument("--more", action="store_true", help="pay too much")
    words.add_argument("--silent", action="store_true", help="forget to pay")
    words.add_argument("--refuse", action="store_true", help="have a bank that refuses")
    words.add_argument("--listen", metavar="HOST:PORT", help="speak over TCP")
    arguments = words.parse_args()
    Atm(arguments).run(arguments.listen)


if __name__ == "__main__":
    main()
