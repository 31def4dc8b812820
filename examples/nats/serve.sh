# A NATS server without files. With NATS_FAULT behind a proxy that is not quite right.
port=$1
PATH=$PATH:/usr/sbin
if [ -z "$NATS_FAULT" ]; then
    exec nats-server -c nats.conf -a 127.0.0.1 -p "$port"
fi
exec python3 faulty.py "$port" "$NATS_FAULT" nats-server -c nats.conf -a 127.0.0.1 -p "{port}"
