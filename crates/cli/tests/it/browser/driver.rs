//! A real browser, driven over WebDriver: Debian's `chromium` by its `chromedriver`.
//!
//! A [`Browser`] is one driver process with one headless window and a profile of its own; both end with it. The
//! protocol is JSON over HTTP (<https://www.w3.org/TR/webdriver2/>), so a socket and a JSON
//! library are all it takes. A test begins with `let Some(browser) = Browser::open() else { return };`:
//! where no browser can be had it fails and says what to do, unless `IOXIDE_BROWSER=none` asks to go without.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The time that any request may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of times a browser is started before it is given up.
const TRIES: usize = 5;
/// The time that a script may take, which the driver watches: a script that hangs ends its test at once.
const SCRIPT_MS: u64 = 30_000;
/// The time that a page may take to show what is waited for.
const SHOWN: Duration = Duration::from_secs(30);

/// A browser with one window.
pub struct Browser {
    driver: Child,
    /// The driver writes until it ends.
    _said: BufReader<ChildStdout>,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser; `None` if `IOXIDE_BROWSER=none` says to go without.
    pub fn open() -> Option<Self> {
        if env::var("IOXIDE_BROWSER").is_ok_and(|value| value == "none") {
            eprintln!("skipped: IOXIDE_BROWSER=none");
            return None;
        }
        let mut refusals = Vec::new();
        while refusals.len() < TRIES {
            match Self::start() {
                Ok(browser) => return Some(browser),
                Err(refusal) => refusals.push(refusal),
            }
            sleep(Duration::from_secs(1 << refusals.len()));
        }
        panic!("no browser in {TRIES} tries:\n{}", refusals.join("\n"));
    }

    /// One try: the driver may lose the race for its port, and the browser may be too slow for the driver.
    fn start() -> Result<Self, String> {
        let program = env::var("IOXIDE_CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        let started =
            Command::new(&program).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut driver = started.unwrap_or_else(|error| {
            panic!(
                "cannot start `{program}`: {error}\n\
                 help: `./x test` installs it; by hand, `apt-get install chromium chromium-driver`;\n\
                 IOXIDE_BROWSER=none goes without the tests of the pages"
            )
        });
        let mut said = BufReader::new(driver.stdout.take().expect("stdout is piped"));
        let port = port_of(&mut said);
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut browser =
            Self { driver, _said: said, port: port.unwrap_or(0), session: String::new(), _profile: profile };
        port.ok_or("chromedriver ended before it listened")?;
        browser.begin()?;
        Ok(browser)
    }

    fn begin(&mut self) -> Result<(), String> {
        let profile = format!("--user-data-dir={}", self._profile.path().display());
        let flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            "--lang=en",
            "--window-size=1200,800",
            &profile,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": SCRIPT_MS },
        }}});
        let answer = self.ask("POST", "/session", &wanted).map_err(|error| error.to_string())?;
        let id = answer["value"]["sessionId"].as_str();
        self.session = id.ok_or_else(|| answer["value"].to_string())?.to_owned();
        Ok(())
    }

    /// Opens an address and waits until it is loaded.
    pub fn go(&self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    /// Opens a file from disk.
    pub fn open_file(&self, path: &std::path::Path) {
        let path = path.canonicalize().expect("the file is there");
        self.go(&format!("file://{}", path.display()));
    }

    /// The address now.
    pub fn url(&self) -> String {
        self.get("/url").as_str().unwrap_or_default().to_owned()
    }

    /// The back button.
    pub fn back(&self) {
        self.post("/back", &json!({}));
    }

    /// Loads the page again.
    pub fn reload(&self) {
        self.post("/refresh", &json!({}));
    }

    /// The size of the window.
    pub fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({ "width": width, "height": height }));
    }

    /// Makes the page believe that its window has this size, also where a window cannot be so small.
    pub fn set_view(&self, width: u32, height: u32) {
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        let command = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": params });
        self.post("/goog/cdp/execute", &command);
    }

    /// Runs a script of its own in the page, whatever the content security policy of the page is.
    pub fn load_script(&self, source: &str) {
        // The last value is sent back, so it must be a small one.
        let params = json!({ "expression": format!("{source}\n;0"), "returnByValue": true });
        let told = self.post("/goog/cdp/execute", &json!({ "cmd": "Runtime.evaluate", "params": params }));
        assert!(told.get("exceptionDetails").is_none(), "{told}");
    }

    /// Makes the page believe that its user prefers `scheme`, `light` or `dark`.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let params = json!({ "features": features });
        self.post("/goog/cdp/execute", &json!({ "cmd": "Emulation.setEmulatedMedia", "params": params }));
    }

    /// Runs the body of a function in the page, with `args` as its `arguments`, and returns its result.
    pub fn run(&self, script: &str, args: &[Json]) -> Json {
        self.post("/execute/sync", &json!({ "script": script, "args": args }))
    }

    /// Waits until the expression is true in the page, and returns its value.
    #[track_caller]
    pub fn wait_for(&self, expression: &str) -> Json {
        let began = Instant::now();
        loop {
            let value = self.run(&format!("return {expression};"), &[]);
            if !matches!(value, Json::Null | Json::Bool(false)) && value != 0 && value != "" {
                return value;
            }
            if began.elapsed() > SHOWN {
                panic!("waited in vain for `{expression}`; the page says:\n{}", self.text("body"));
            }
            sleep(Duration::from_millis(40));
        }
    }

    /// Waits for an element that the selector finds.
    #[track_caller]
    pub fn wait_for_element(&self, css: &str) {
        self.wait_for(&format!("document.querySelector({}) !== null", json!(css)));
    }

    /// The text of the first element the selector finds, as it is seen.
    #[track_caller]
    pub fn text(&self, css: &str) -> String {
        let found =
            self.run("return document.querySelector(arguments[0])?.innerText ?? null;", &[json!(css)]);
        found.as_str().unwrap_or_else(|| panic!("nothing is `{css}`")).to_owned()
    }

    /// Returns the number of elements that the selector finds.
    pub fn count(&self, css: &str) -> u64 {
        let n = self.run("return document.querySelectorAll(arguments[0]).length;", &[json!(css)]);
        n.as_u64().expect("a number")
    }

    /// Clicks on the first element the selector finds, with the mouse.
    #[track_caller]
    pub fn click(&self, css: &str) {
        self.wait_for_element(css);
        let found = self.post("/element", &json!({ "using": "css selector", "value": css }));
        let id = found.as_object().and_then(|found| found.values().next()?.as_str()).expect("an element");
        self.post(&format!("/element/{id}/click"), &json!({}));
    }

    /// Presses keys one after the other, wherever the focus is; [`key`] has those without a character.
    pub fn press(&self, keys: &str) {
        let press = |c: char| [json!({"type": "keyDown", "value": c}), json!({"type": "keyUp", "value": c})];
        let actions: Vec<Json> = keys.chars().flat_map(press).collect();
        self.post(
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
    }

    /// Presses a key while a modifier is held.
    pub fn press_with(&self, modifier: &str, key: &str) {
        let act = |kind: &str, value: &str| json!({ "type": kind, "value": value });
        let actions =
            [act("keyDown", modifier), act("keyDown", key), act("keyUp", key), act("keyUp", modifier)];
        self.post(
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
    }

    /// Returns the level and the text of console messages since the last call.
    pub fn console(&self) -> Vec<(String, String)> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        let text = |entry: &Json, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| (text(entry, "level"), text(entry, "message"))).collect()
    }

    /// Fails if the console has anything to complain about.
    #[track_caller]
    pub fn is_calm(&self) {
        let complaints: Vec<_> =
            self.console().into_iter().filter(|(level, _)| level == "SEVERE" || level == "WARNING").collect();
        assert!(complaints.is_empty(), "the console says {complaints:?}");
    }

    /// A picture of the window, as PNG.
    pub fn screenshot(&self) -> Vec<u8> {
        let text = self.get("/screenshot");
        BASE64.decode(text.as_str().expect("a picture")).expect("pictures are in base64")
    }

    fn get(&self, path: &str) -> Json {
        self.call("GET", &format!("/session/{}{path}", self.session), &Json::Null)
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Json) -> Json {
        self.call("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// One request; an error of the driver ends the test.
    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Json) -> Json {
        let answer = self.ask(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let value = answer["value"].clone();
        if let Some(error) = value.get("error").and_then(Json::as_str) {
            panic!("{method} {path}: {error}: {}", value["message"].as_str().unwrap_or_default());
        }
        value
    }

    fn ask(&self, method: &str, path: &str, body: &Json) -> std::io::Result<Json> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        for line in reader.by_ref().lines() {
            let line = line?.to_ascii_lowercase();
            if let Some(n) = line.strip_prefix("content-length:") {
                length = n.trim().parse().unwrap_or(0);
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.ask("DELETE", &format!("/session/{}", self.session), &Json::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Keys without a character, as WebDriver names them.
pub mod key {
    /// Enter.
    pub const ENTER: &str = "\u{e007}";
    /// Control.
    pub const CONTROL: &str = "\u{e009}";
    /// The arrow down.
    pub const DOWN: &str = "\u{e015}";
    /// To the end.
    pub const END: &str = "\u{e010}";
    /// Escape.
    pub const ESCAPE: &str = "\u{e00c}";
}

/// The port the driver chose and tells; `None` if it ended before.
fn port_of(said: &mut impl BufRead) -> Option<u16> {
    for line in said.lines() {
        let line = line.expect("the driver can be read");
        if let Some((_, rest)) = line.split_once("successfully on port ") {
            return Some(rest.trim_end_matches('.').parse().expect("a port"));
        }
    }
    None
}

#[test]
fn a_page_is_driven() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let page = "<button id=b onclick='this.textContent = \"pressed\"; console.error(\"ouch\")'>press</button>\
                <input id=i>";
    std::fs::write(&file, page).expect("a file");
    browser.open_file(&file);
    browser.is_calm();
    assert_eq!(browser.text("#b"), "press");
    browser.click("#b");
    assert_eq!(browser.text("#b"), "pressed");
    assert!(browser.console().iter().any(|(level, text)| level == "SEVERE" && text.contains("ouch")));
    browser.click("#i");
    browser.press("tea");
    assert_eq!(browser.run("return document.querySelector('#i').value;", &[]), "tea");
    assert!(browser.screenshot().starts_with(b"\x89PNG"));
}
