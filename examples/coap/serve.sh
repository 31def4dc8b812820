# The server of libcoap, with room for two resources. With COAP_FAULT behind a proxy that is not quite right.
port=$1
if [ -z "$COAP_FAULT" ]; then
    exec coap-server-notls -A 127.0.0.1 -p "$port" -d 2
fi
exec python3 faulty.py "$port" "$COAP_FAULT" coap-server-notls -A 127.0.0.1 -p "{port}" -d 2
