

JAR = {}


def ask(method, path, headers, body=None, url=None, tls=None, on_sent=None):
    """Sends a request and returns its answer; None if none comes."""
    url = urllib.parse.urlsplit(url or URL)
    port = url.port or (443 if url.scheme == "https" else 80)
    link = http.client.HTTPConnection(url.hostname, port, timeout=REPLY_SECONDS)
    if url.scheme == "https":
        context = ssl.create_default_context() if tls is None else tls_context(tls)
        link = http.client.HTTPSConnection(url.hostname, url.port, timeout=REPLY_SECONDS, context=context)
    headers = {name: value for name, value in headers.items() if value is not None}
    if KEEPS_COOKIES and JAR:
        headers["cookie"] = "; ".join(f"{name}={value}" for name, value in JAR.items())
    try:
        link.connect()
    except OSError as error:
        sys.exit(f"cannot reach {url.geturl()}: {error}; start the system first")
    try:
        link.request(method, path, None if body is None else body.encode(), headers)
        if on_sent is not None:
            on_sent()
        answer = link.getresponse()
        data = answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        link.close()
    set_cookies = [line.split(";")[0].split("=", 1) for line in answer.headers.get_all("set-cookie") or []]
    cookies = {pair[0].strip(): pair[1] for pair in set_cookies if len(pair) == 2}
    JAR.update(cookies)
    return Reply(data, answer.status, answer.headers, cookies)
