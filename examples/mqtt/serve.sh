# A mosquitto without files. With MQTT_FAULT behind a proxy that is not quite right.
port=$1
PATH=$PATH:/usr/sbin
if [ -z "$MQTT_FAULT" ]; then
    exec mosquitto -p "$port"
fi
exec python3 faulty.py "$port" "$MQTT_FAULT" mosquitto -p "{port}"
