"""What the mail server does with mail: it has the mailboxes 0 to 4, and says how many of them got a message."""


class Mailbox:
    async def handle_RCPT(self, server, session, envelope, address, options):
        box = address.partition("@")[0].removeprefix("box")
        if not box.isdigit() or int(box) > 4:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        return f"250 delivered to {len(envelope.rcpt_tos)}"
