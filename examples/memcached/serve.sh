# A memcached. With MEMCACHED_FAULT behind a proxy that is not quite right.
port=$1
server="memcached -u nobody -l 127.0.0.1 -U 0"
if [ -z "$MEMCACHED_FAULT" ]; then
    exec $server -p "$port"
fi
exec python3 faulty.py "$port" "$MEMCACHED_FAULT" $server -p "{port}"
