# A mail server that delivers to a few mailboxes. With SMTP_FAULT behind a proxy that is not quite right.
port=$1
export PYTHONPATH=.
if [ -z "$SMTP_FAULT" ]; then
    exec aiosmtpd -n -c mailbox.Mailbox -l "127.0.0.1:$port"
fi
exec python3 faulty.py "$port" "$SMTP_FAULT" aiosmtpd -n -c mailbox.Mailbox -l "127.0.0.1:{port}"
