//! The language server over its protocol: the real program, driven as an editor drives it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

/// An editor that talks to `ioxide lsp`.
struct Editor {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    asked: i64,
    /// Messages of the server that are no answers, received while an answer was awaited.
    told: Vec<Json>,
}

impl Editor {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut editor = Self { child, stdin, stdout, asked: 0, told: Vec::new() };
        let root = json!({ "uri": uri(folder), "name": "models" });
        let greeting = editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [root] }));
        assert_eq!(greeting["capabilities"]["hoverProvider"], true, "{greeting}");
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Json) {
        let text = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        self.stdin.flush().expect("the server listens");
    }

    fn tell(&mut self, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next message of the server.
    fn next(&mut self) -> Json {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).expect("a line"), 0, "the server went away");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut bytes = vec![0; length];
        self.stdout.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn whole_answer(&mut self, method: &str, params: Json) -> Json {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let mut answer = self.whole_answer(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    fn open(&mut self, path: &Path) -> String {
        let text = fs::read_to_string(path).expect("a model");
        let document = json!({ "uri": uri(path), "languageId": "ioxide", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        text
    }

    /// Waits until the findings about `path` satisfy `wanted`.
    fn findings(&mut self, path: &Path, wanted: impl Fn(&[Json]) -> bool) -> Vec<Json> {
        let address = uri(path);
        loop {
            let message = if self.told.is_empty() { self.next() } else { self.told.remove(0) };
            if message["method"] != "textDocument/publishDiagnostics" || message["params"]["uri"] != address {
                continue;
            }
            let found = message["params"]["diagnostics"].as_array().cloned().expect("a list");
            if wanted(&found) {
                return found;
            }
        }
    }

    /// Asks about the place of `word` in `text`, plus some columns.
    fn about(&mut self, method: &str, path: &Path, text: &str, word: &str, plus: usize) -> Json {
        self.ask(method, at(path, text, word, plus))
    }

    fn quit(mut self) {
        self.ask("shutdown", Json::Null);
        self.tell("exit", Json::Null);
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0));
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn position(text: &str, offset: usize) -> Json {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = offset - before.rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": column })
}

fn at(path: &Path, text: &str, word: &str, plus: usize) -> Json {
    let offset = text.find(word).unwrap_or_else(|| panic!("no {word}")) + plus;
    json!({ "textDocument": { "uri": uri(path) }, "position": position(text, offset) })
}

/// A folder with copies of some examples.
fn folder(examples: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    for example in examples {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
        let name = Path::new(example).file_name().expect("a name");
        fs::copy(from, root.join(name)).expect("a copy");
    }
    (folder, root)
}

#[test]
fn an_editor_is_served_from_hello_to_goodbye() {
    let (_kept, root) = folder(&["adder.iox"]);
    let path = root.join("adder.iox");
    let mut editor = Editor::start(&root);
    let text = editor.open(&path);
    assert!(editor.findings(&path, |_| true).is_empty());

    let hover = editor.about("textDocument/hover", &path, &text, "x > 15", 0);
    let said = hover["contents"]["value"].as_str().expect("words");
    assert!(
        said.contains("variable of sort `int`") && said.contains("The sum of all numbers taken."),
        "{said}"
    );
    let hover = editor.about("textDocument/hover", &path, &text, "r0: on", 1);
    let said = hover["contents"]["value"].as_str().expect("words");
    assert!(said.contains("can be taken when"), "{said}");

    let place = editor.about("textDocument/definition", &path, &text, "-> busy", 4);
    assert_eq!(place["range"]["start"], position(&text, text.find("busy {").expect("a state")));
    let mut asked = at(&path, &text, "-> busy", 4);
    asked["context"] = json!({ "includeDeclaration": true });
    assert_eq!(editor.ask("textDocument/references", asked).as_array().map(Vec::len), Some(3));

    let mut asked = at(&path, &text, "-> busy", 4);
    asked["newName"] = json!("working");
    let edit = editor.ask("textDocument/rename", asked.clone());
    assert_eq!(edit["changes"][uri(&path)].as_array().map(Vec::len), Some(3), "{edit}");
    asked["newName"] = json!("idle");
    let refused = editor.whole_answer("textDocument/rename", asked);
    assert!(refused["error"]["message"].as_str().is_some_and(|why| why.contains("already")), "{refused}");

    let items = editor.about("textDocument/completion", &path, &text, "-> busy", 3);
    let labels: Vec<&str> =
        items["items"].as_array().into_iter().flatten().filter_map(|item| item["label"].as_str()).collect();
    assert_eq!(labels, ["idle", "busy", "finished"]);
    let help = editor.about("textDocument/signatureHelp", &path, &text, "outX(p: x)", 5);
    assert_eq!(help["signatures"][0]["label"], "output outX(p: int)");

    let document = json!({ "textDocument": { "uri": uri(&path) } });
    let symbols = editor.ask("textDocument/documentSymbol", document.clone());
    assert_eq!(symbols[0]["name"], "Adder");
    assert!(
        editor
            .ask("textDocument/foldingRange", document.clone())
            .as_array()
            .is_some_and(|folds| folds.len() >= 4)
    );
    let tokens = editor.ask("textDocument/semanticTokens/full", document.clone());
    assert!(tokens["data"].as_array().is_some_and(|data| data.len() > 100 && data.len() % 5 == 0));
    let lenses = editor.ask("textDocument/codeLens", document);
    assert!(lenses.to_string().contains("test:three and four make seven"), "{lenses}");

    let unknown = editor.whole_answer("textDocument/nonsense", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    editor.quit();
}

#[test]
fn typing_brings_findings_and_fixes_and_layout() {
    let (_kept, root) = folder(&["adder.iox"]);
    let path = root.join("adder.iox");
    let mut editor = Editor::start(&root);
    let text = editor.open(&path);
    editor.findings(&path, <[Json]>::is_empty);
    // The last letter of a state is deleted.
    let start = position(&text, text.find("-> busy").expect("a target") + 6);
    let end = position(&text, text.find("-> busy").expect("a target") + 7);
    let range = json!({ "start": start, "end": end });
    let document = json!({ "uri": uri(&path), "version": 2 });
    let change = json!({ "textDocument": document, "contentChanges": [{ "range": range, "text": "" }] });
    editor.tell("textDocument/didChange", change);
    let found = editor.findings(&path, |found| !found.is_empty());
    assert_eq!(found[0]["severity"], 1);
    assert!(
        found[0]["message"].as_str().is_some_and(|message| message.contains("did you mean `busy`?")),
        "{found:?}"
    );
    let document = json!({ "uri": uri(&path) });
    let context = json!({ "diagnostics": found });
    let asked = json!({ "textDocument": document, "range": found[0]["range"], "context": context });
    let actions = editor.ask("textDocument/codeAction", asked);
    assert_eq!(actions[0]["title"], "replace `bus` by `busy`");
    assert_eq!(actions[0]["diagnostics"].as_array().map(Vec::len), Some(1));
    // The whole text is replaced by one that is laid out badly.
    let bad = text.replace("    var x: int = 0", "  var x:int=0");
    let change =
        json!({ "textDocument": { "uri": uri(&path), "version": 3 }, "contentChanges": [{ "text": bad }] });
    editor.tell("textDocument/didChange", change);
    editor.findings(&path, <[Json]>::is_empty);
    let asked =
        json!({ "textDocument": { "uri": uri(&path) }, "options": { "tabSize": 4, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", asked);
    assert_eq!(edits[0]["newText"], "    var x: int = 0\n");
    editor.quit();
}

/// A transition that can never be taken is found by the solver, in the background.
#[test]
fn deep_findings_follow() {
    let (_kept, root) = folder(&[]);
    let path = root.join("never.iox");
    fs::write(
        &path,
        "model M {\n    input a(n: int)\n    state s {\n        \
         x: on a when n > 3 && n < 2\n        y: on a\n    }\n}\n",
    )
    .expect("a file");
    let mut editor = Editor::start(&root);
    editor.open(&path);
    let deep = |found: &[Json]| {
        found.iter().any(|one| one["code"].as_str().is_some_and(|code| code.starts_with("W07")))
    };
    let found = editor.findings(&path, deep);
    assert!(found.iter().any(|one| one["range"]["start"]["line"] == 3), "{found:?}");
    editor.quit();
}

/// A deep check of a text that was changed meanwhile is dropped: what it would have found is not told, and the check of
/// the text as it is now comes to its end.
#[test]
fn a_deep_check_is_dropped_when_the_text_changes() {
    let (_kept, root) = folder(&[]);
    let path = root.join("counters.iox");
    // Many states: counters that count independently, and a transition that none of them ever reaches.
    let vars: String = (0..6).map(|n| format!("    var v{n}: 0..9 = 0\n")).collect();
    let sum = (0..6).map(|n| format!("v{n}")).collect::<Vec<_>>().join(" + ");
    let counts: String =
        (0..6).map(|n| format!("        c{n}: on a when v{n} < 9 {{ v{n} = v{n} + 1 }}\n")).collect();
    let slow = format!(
        "model M {{\n    input a\n    output b\n{vars}    state s {{\n\
         {counts}        beyond: emit b when {sum} > 54\n    }}\n}}\n"
    );
    fs::write(&path, &slow).expect("a file");
    let mut editor = Editor::start(&root);
    editor.open(&path);
    editor.findings(&path, |_| true);
    let quick = "model M {\n    input a(n: int)\n    state s {\n        x: on a when n > 3 && n < 2\n        \
                 y: on a\n    }\n}\n";
    let change =
        json!({ "textDocument": { "uri": uri(&path), "version": 2 }, "contentChanges": [{ "text": quick }] });
    editor.tell("textDocument/didChange", change);
    // Every word about the new text is about the new text.
    let found = editor.findings(&path, |found| {
        assert!(found.iter().all(|one| !one.to_string().contains("beyond")), "{found:?}");
        found.iter().any(|one| one["code"].as_str().is_some_and(|code| code.starts_with("W07")))
    });
    assert!(found.iter().any(|one| one["range"]["start"]["line"] == 3), "{found:?}");
    editor.quit();
}

#[test]
fn systems_are_read_with_the_files_they_use() {
    let (_kept, root) = folder(&[]);
    fs::create_dir(root.join("systems")).expect("a folder");
    let (server, whole) = (root.join("server.iox"), root.join("systems/whole.iox"));
    fs::write(
        &server,
        "model Server {\n    input ask(n: 0..3)\n    output tell(n: 0..3)\n    \
         var x: 0..3 = 0\n    state idle {\n        a: on ask { x = n } -> busy\n    }\n    \
         state busy {\n        b: emit tell(n: x) -> idle\n    }\n}\n",
    )
    .expect("a file");
    fs::write(
        &whole,
        "system Whole {\n    use Server from \"../server.iox\"\n    one: Server\n    \
         two: Server\n    one.tell -> two.ask\n}\n",
    )
    .expect("a file");
    let mut editor = Editor::start(&root);
    let text = editor.open(&whole);
    editor.findings(&whole, <[Json]>::is_empty);
    let place = editor.about("textDocument/definition", &whole, &text, "two.ask", 5);
    assert_eq!(place["uri"], uri(&server));
    assert_eq!(place["range"]["start"], json!({ "line": 1, "character": 10 }));
    // Rename in the model, which is not even open, from the system.
    let mut asked = at(&whole, &text, "two.ask", 5);
    asked["newName"] = json!("request");
    let edit = editor.ask("textDocument/rename", asked);
    assert_eq!(edit["changes"][uri(&server)].as_array().map(Vec::len), Some(2), "{edit}");
    assert_eq!(edit["changes"][uri(&whole)].as_array().map(Vec::len), Some(1), "{edit}");
    editor.quit();
}

#[test]
fn lenses_tell_what_the_last_campaign_took() {
    let (_kept, root) = folder(&["adder.iox"]);
    let tested = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args([
            "test",
            "adder.iox",
            "--sut",
            "model:adder.iox",
            "--seed",
            "1",
            "--runs",
            "2",
            "--report",
            "runs",
        ])
        .current_dir(&root)
        .output()
        .expect("the program runs");
    assert_eq!(tested.status.code(), Some(0), "{tested:?}");
    let path = root.join("adder.iox");
    let mut editor = Editor::start(&root);
    editor.open(&path);
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri(&path) } }));
    let titles: Vec<&str> = lenses
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|lens| lens["command"]["title"].as_str())
        .collect();
    assert!(titles.contains(&"taken"), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("last campaign: ")), "{titles:?}");
    editor.quit();
}

/// Other kinds of models have findings too.
#[test]
fn action_systems_have_findings() {
    let (_kept, root) = folder(&["cas/cas.as"]);
    let path = root.join("cas.as");
    let mut editor = Editor::start(&root);
    editor.open(&path);
    editor.findings(&path, |found| found.iter().all(|one| one["severity"] != 1));
    let document = json!({ "uri": uri(&path), "version": 2 });
    let change = json!({ "textDocument": document, "contentChanges": [{ "text": "nonsense" }] });
    editor.tell("textDocument/didChange", change);
    editor.findings(&path, |found| found.iter().any(|one| one["severity"] == 1));
    editor.quit();
}

#[test]
fn an_editor_that_goes_away_ends_the_server() {
    let (_kept, root) = folder(&[]);
    let mut editor = Editor::start(&root);
    drop(editor.stdin);
    assert_eq!(editor.child.wait().expect("it ends").code(), Some(0));
}

/// A model names a device and a pipe, and links to folders go round in circles: the server says so, and goes on.
#[cfg(unix)]
#[test]
fn files_of_others_are_regular_files() {
    let (_kept, root) = folder(&["adder.iox"]);
    let made = Command::new("mkfifo").arg(root.join("pipe.iox")).status().expect("mkfifo runs");
    assert!(made.success());
    std::os::unix::fs::symlink(&root, root.join("again")).expect("a link");
    std::os::unix::fs::symlink("/", root.join("all")).expect("a link");
    let text =
        "system S {\n    use A from \"/dev/zero\"\n    use B from \"pipe.iox\"\n    a: A\n    b: B\n}\n";
    let path = root.join("s.iox");
    fs::write(&path, text).expect("a model");
    let mut editor = Editor::start(&root);
    editor.open(&path);
    let found = editor.findings(&path, |found| !found.is_empty());
    let said = serde_json::to_string(&found).expect("JSON");
    assert!(
        said.contains("`/dev/zero` cannot be read") && said.contains("pipe.iox` cannot be read"),
        "{said}"
    );
    // What is in the folder is looked at, too.
    let adder = root.join("adder.iox");
    let text = editor.open(&adder);
    let mut asked = at(&adder, &text, "-> busy", 4);
    asked["context"] = json!({ "includeDeclaration": true });
    assert_eq!(editor.ask("textDocument/references", asked).as_array().map(Vec::len), Some(3));
    editor.quit();
}

/// On a transition that a failing campaign contradicts, an action changes the model so that the runs are allowed.
#[test]
fn a_failing_transition_has_an_action_that_explains_the_runs() {
    let folder = crate::repair::folder();
    let root = folder.path().canonicalize().expect("a path");
    crate::repair::record(&root, "1");
    let path = root.join("model.iox");
    let mut editor = Editor::start(&root);
    let text = editor.open(&path);
    editor.findings(&path, |_| true);
    let range_of = |line: &str| {
        let offset = text.find(line).unwrap_or_else(|| panic!("no {line}"));
        json!({ "start": position(&text, offset), "end": position(&text, offset + 1) })
    };
    let mut actions_at = |line: &str| {
        let context = json!({ "diagnostics": [] });
        let asked =
            json!({ "textDocument": { "uri": uri(&path) }, "range": range_of(line), "context": context });
        editor.ask("textDocument/codeAction", asked).as_array().cloned().expect("a list")
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.contains(": emit ")).collect();
    let found: Vec<Json> = lines.iter().flat_map(|line| actions_at(line)).collect();
    let is_repair = |action: &&Json| {
        action["title"].as_str().is_some_and(|title| title.starts_with("if the system is right"))
    };
    let action = found.iter().find(is_repair).unwrap_or_else(|| panic!("no action at {lines:?}")).clone();
    assert!(!actions_at("model ").iter().any(|action| is_repair(&action)), "the failure is elsewhere");
    let resolved = editor.ask("codeAction/resolve", action);
    let edit = &resolved["edit"]["changes"][uri(&path)][0];
    let offset = |place: &Json| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        before + place["character"].as_u64().expect("a column") as usize
    };
    let (from, to) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
    let changed = format!("{}{}{}", &text[..from], edit["newText"].as_str().expect("a text"), &text[to..]);
    assert_ne!(changed, text);
    editor.quit();
    fs::write(&path, changed).expect("a file");
    crate::program::check_in(&root, &["judge", "model.iox", "runs"], 0, &["PASS"]);
}
