# A dnsmasq that knows a few names and asks nobody else. With DNS_FAULT behind a proxy that is not quite right.
port=$1
PATH=$PATH:/usr/sbin
serve() {
    exec "$@" --keep-in-foreground --conf-file=/dev/null --pid-file= --no-resolv --no-hosts --bind-interfaces \
        --listen-address=127.0.0.1 --local=/test/ --host-record=one.test,10.0.0.1 --txt-record=one.test,hello \
        --cname=alias.test,one.test --host-record=two.test,10.0.0.2 --host-record=two.test,10.0.0.3
}
if [ -z "$DNS_FAULT" ]; then
    serve dnsmasq --port="$port"
fi
serve python3 faulty.py "$port" "$DNS_FAULT" dnsmasq --port="{port}"
