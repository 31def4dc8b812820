# An etcd with files of its own, which `stop` deletes. With ETCD_FAULT behind a proxy that is not quite right.
port=$1
folder=${TMPDIR:-/tmp}/ioxide-etcd-$port
rm -rf "$folder"
serve="etcd --data-dir $folder --listen-peer-urls http://127.0.0.1:0 --logger zap --log-level error"
if [ -z "$ETCD_FAULT" ]; then
    exec $serve --listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port"
fi
exec python3 faulty.py "$port" "$ETCD_FAULT" $serve --listen-client-urls "http://127.0.0.1:{port}" \
    --advertise-client-urls "http://127.0.0.1:{port}"
