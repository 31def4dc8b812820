//! The answers to editors, as pure functions of a text and a place; `¦` marks the cursor.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioxide_lsp::analysis::{NoLibrary, TextAnalysis, TextLibrary, check_up};
use ioxide_lsp::answers::lens::{LastCampaign, SwitchFate};
use ioxide_lsp::answers::{
    action, completion, definition, fold, hover, layout, lens, rename, signature, symbol, token,
};
use ioxide_lsp::text::DocumentText;
use lsp_types::{HoverContents, ParameterLabel};

const QUEUE: &str = r#"/// A queue.
model Queue {
    record Job { id: int, body: string }
    enum Mood { calm, angry(level: int) }
    type Size = 0..9
    const CAP: Size = 3

    /// Puts a job.
    input PUT(body: string, urgent: bool)
    input GET
    observed input TICK
    output GOT(id: int)
    output EMPTY

    /// The jobs that wait.
    var ready: list<Job> = []
    var names: map<string, int> = {}
    var mood: Mood = calm
    clock idle

    fn twice(n: int, m: int) -> int = n + n + m

    /// Nothing is owed.
    state free {
        put: on PUT when ready.length() < CAP { ready = ready + [Job(id: 1, body: body)], reset idle }
        get: on GET -> owing
    }
    state owing {
        got: emit GOT(id: job.id) when let some(job) = ready.first() { ready = ready.drop(1) } -> free
        empty: emit EMPTY when ready.is_empty() -> free
    }
    any {
        tick: on TICK
    }

    purpose served: put, get, got
    purpose idle_again: reach free when mood == calm
    purpose silent {
        var n: int = 0
        state looking {
            on GET { n = n + 1 }
            quiet when n > 1 -> hit
        }
    }
    sane: always ready.length() <= CAP
    test "in and out" {
        send PUT(body: "a", urgent: true)
        expect GOT(id: 1)
    }
}
"#;

/// The queue with the first `from` replaced by `to`, and the place of the cursor in it.
#[track_caller]
fn queue(from: &str, to: &str) -> (Arc<TextAnalysis>, usize) {
    assert!(QUEUE.contains(from), "{from}");
    read(&QUEUE.replacen(from, to, 1))
}

#[track_caller]
fn read(marked: &str) -> (Arc<TextAnalysis>, usize) {
    let offset = marked.find('¦').expect("a cursor");
    let text = marked.replacen('¦', "", 1);
    (Arc::new(TextAnalysis::new("/models/queue.iox", DocumentText::new(text))), offset)
}

/// The proposals where the first `from` is replaced by `to`.
#[track_caller]
fn proposals(from: &str, to: &str) -> Vec<String> {
    let (analysis, offset) = queue(from, to);
    completion::complete(&analysis, offset, &NoLibrary).into_iter().map(|item| item.label).collect()
}

#[track_caller]
fn offers(from: &str, to: &str, all: &[&str], none: &[&str]) {
    let found = proposals(from, to);
    for wanted in all {
        assert!(found.iter().any(|label| label == wanted), "{to}: no `{wanted}` among {found:?}");
    }
    for unwanted in none {
        assert!(found.iter().all(|label| label != unwanted), "{to}: `{unwanted}` among {found:?}");
    }
}

#[test]
fn completion_knows_the_place_in_a_transition() {
    offers("on GET -> owing", "on ¦", &["PUT", "GET", "TICK"], &["GOT", "ready", "free"]);
    offers("emit EMPTY when", "emit ¦ when", &["GOT", "EMPTY"], &["PUT", "owing"]);
    offers("-> owing", "-> ¦", &["free", "owing"], &["looking", "GET", "ready"]);
    offers("-> owing", "-> ow¦", &["owing"], &["free"]);
    offers(
        "when ready.length() < CAP",
        "when ¦",
        &["body", "urgent", "ready", "idle", "CAP", "calm", "twice"],
        &["PUT", "free"],
    );
    offers("reset idle", "reset ¦", &["idle"], &["ready"]);
    offers("{ ready = ready +", "{ ¦", &["ready", "mood", "reset"], &["idle", "CAP"]);
    offers("get: on GET", "get: ¦", &["on", "emit", "internal"], &["state", "GET"]);
    offers("get: on GET -> owing", "¦", &["on", "emit", "internal"], &["var", "send"]);
    offers("on GET -> owing", "on GET ¦", &["when"], &["free", "on"]);
}

#[test]
fn completion_knows_fields_and_functions() {
    offers("job.id)", "job.¦)", &["id", "body"], &["length", "ready"]);
    offers("ready.length() < CAP", "ready.¦ < CAP", &["length", "first", "drop"], &["id", "keys", "split"]);
    offers("ready.length() < CAP", "ready[0].¦", &["id", "body"], &["length"]);
    offers("ready.length() < CAP", "ready[0].body.¦", &["length", "split"], &["first"]);
    offers("ready.length() < CAP", "names.¦", &["keys", "get"], &["first"]);
    offers("PUT when", "PUT(¦) when", &["body", "urgent"], &["id", "ready"]);
    offers("PUT when", "PUT(body: \"x\", ¦) when", &["urgent"], &["body"]);
    offers("Job(id: 1, body: body)", "Job(¦)", &["id", "body"], &["urgent"]);
    offers("PUT when", "PUT(body: ¦) when", &["body", "ready"], &["PUT"]);
}

#[test]
fn completion_knows_declarations_goals_and_tests() {
    offers(
        "    clock idle",
        "    ¦",
        &["var", "clock", "state", "purpose", "test", "fn"],
        &["send", "ready"],
    );
    offers("var mood: Mood", "var mood: ¦", &["Mood", "Size", "Job", "int", "list"], &["ready", "PUT"]);
    offers("input GET", "input GET(x: ¦", &["Mood", "int"], &["ready"]);
    offers("-> int = n + n + m", "-> ¦", &["int", "Mood"], &["free"]);
    offers("= n + n + m", "= ¦", &["n", "m", "CAP", "twice"], &["ready", "PUT"]);
    offers("served: put, get, got", "served: ¦", &["put", "get", "got", "reach"], &["free"]);
    offers("served: put, get, got", "served: put, ¦", &["get", "got"], &["free"]);
    offers("reach free when", "reach ¦", &["free", "owing"], &["put"]);
    offers("send PUT(", "send ¦(", &["PUT", "GET"], &["GOT", "TICK"]);
    offers("expect GOT(id: 1)", "expect ¦", &["GOT", "EMPTY", "TICK"], &["PUT"]);
    offers("expect GOT(id: 1)", "¦", &["send", "expect", "quiet"], &["on"]);
    offers("n > 1 -> hit", "n > 1 -> ¦", &["hit", "miss", "looking"], &["CAP"]);
    offers("/// A queue.", "/// A ¦queue.", &[], &["model", "CAP"]);
}

#[track_caller]
fn hovered(from: &str, to: &str) -> String {
    let (analysis, offset) = queue(from, to);
    let checkup =
        check_up(&analysis.path, analysis.text.as_str(), &mut |_| Err(std::io::ErrorKind::NotFound.into()));
    let model = checkup.loaded.model.map(Arc::new);
    let hover = hover::hover(&analysis, offset, &NoLibrary, &mut || model.clone()).expect("something to say");
    match hover.contents {
        HoverContents::Markup(content) => content.value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn hover_tells_sort_docs_source_and_condition() {
    let variable = hovered("ready.length() < CAP", "rea¦dy.length() < CAP");
    assert!(variable.contains("var ready: list<Job> = []"), "{variable}");
    assert!(variable.contains("variable of sort `list<Job>` of model `Queue`, line 16"), "{variable}");
    assert!(variable.contains("The jobs that wait."), "{variable}");
    let message = hovered("on GET -> owing", "on G¦ET -> owing");
    assert!(message.contains("input GET"), "{message}");
    let field = hovered("job.id", "job.i¦d");
    assert!(field.contains("field of sort `int` of record `Job`"), "{field}");
    let case = hovered("enum Mood { calm", "enum Mood { /// All is well.\n ca¦lm");
    assert!(case.contains("All is well."), "{case}");
    let part = hovered("record Job { id", "record Job { /// Its number.\n i¦d");
    assert!(part.contains("Its number."), "{part}");
    let label = hovered("put: on", "pu¦t: on");
    assert!(label.contains("can be taken when") && label.contains("ready"), "{label}");
    let verb = hovered("got: emit GOT", "got: em¦it GOT");
    assert!(verb.contains("transition `got`") && verb.contains("can be taken when"), "{verb}");
    let always = hovered("tick: on TICK", "tick: o¦n TICK");
    assert!(always.contains("tick@free") && always.contains("can always be taken"), "{always}");
}

#[test]
fn without_a_meaning_the_condition_is_the_written_one() {
    let text = hovered("empty: emit EMPTY when ready.is_empty()", "em¦pty: emit EMPTY when read.is_empty()");
    assert!(text.contains("as written, when") && text.contains("read.is_empty()"), "{text}");
}

#[track_caller]
fn defined_at(from: &str, to: &str) -> String {
    let (analysis, offset) = queue(from, to);
    let place = definition::definition_place(&analysis, offset, &NoLibrary).expect("a definition");
    let text = analysis.text.as_str();
    let end = text[place.at.start..].find('\n').map_or(text.len(), |end| place.at.start + end);
    text[place.at.start..end].to_owned()
}

#[test]
fn names_lead_to_their_definitions() {
    assert_eq!(defined_at("-> owing", "-> ow¦ing"), "owing {");
    assert_eq!(defined_at("urgent: true", "ur¦gent: true"), "urgent: bool)");
    assert_eq!(defined_at("body: body)", "body: bo¦dy)"), "body: string, urgent: bool)");
    assert_eq!(defined_at("body: body)", "bo¦dy: body)"), "body: string }");
    assert_eq!(
        defined_at("put, get, got", "put, get, g¦ot"),
        "got: emit GOT(id: job.id) when let some(job) = ready.first() { ready = ready.drop(1) } -> free"
    );
    assert_eq!(defined_at("mood == calm", "mood == ca¦lm"), "calm, angry(level: int) }");
    assert_eq!(defined_at("CAP: Size", "CAP: Si¦ze"), "Size = 0..9");
    assert_eq!(defined_at("{ n = n + 1 }", "{ n = ¦n + 1 }"), "n: int = 0");
    assert_eq!(defined_at("n + n + m", "n + n + ¦m"), "m: int) -> int = n + n + m");
}

/// In the pin of a field, its name means what is declared outside of the message; elsewhere it means the field.
#[test]
fn a_field_does_not_hide_a_variable_from_its_own_pin() {
    const MODEL: &str = "model Fee {
    output BYE(fee: int, sum: int)
    var fee: int = 3
    state s { bye: emit BYE(fee: fee, sum: fee + 1) -> s }
}
";
    let defined_at = |from: &str, to: &str| {
        let (analysis, offset) = read(&MODEL.replacen(from, to, 1));
        let place = definition::definition_place(&analysis, offset, &NoLibrary).expect("a definition");
        analysis.text.as_str()[place.at.start..].lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(defined_at("fee: fee,", "fee: fe¦e,"), "fee: int = 3");
    assert_eq!(defined_at("sum: fee", "sum: fe¦e"), "fee: int, sum: int)");
}

#[test]
fn references_and_renames_are_everywhere() {
    let (analysis, offset) = queue("var ready", "var rea¦dy");
    let places = definition::find_references(&analysis, offset, &NoLibrary, &[]);
    assert_eq!(places.len(), QUEUE.matches("ready").count());
    let changed = |name: &str| rename::rename(&analysis, offset, name, &NoLibrary, &[]);
    assert_eq!(changed("waiting").map(|places| places.len()), Ok(QUEUE.matches("ready").count()));
    assert!(changed("mood").is_err_and(|why| why.to_string().contains("already")));
    assert!(changed("when").is_err_and(|why| why.to_string().contains("not a name")));
    assert!(changed("a b").is_err());
    let (analysis, offset) = queue("model Queue {", "model¦ Queue {");
    assert!(rename::rename(&analysis, offset, "x", &NoLibrary, &[]).is_err());
}

/// Renaming gives a text with the same findings.
#[test]
fn a_renamed_text_still_loads() {
    for (from, to) in [
        ("var ready", "var ¦ready"),
        ("state free", "state ¦free"),
        ("record Job", "record ¦Job"),
        ("input PUT(body", "input PUT(¦body"),
        ("put: on", "¦put: on"),
    ] {
        let (analysis, offset) = queue(from, to);
        let places = rename::rename(&analysis, offset, "fresh_name", &NoLibrary, &[]).expect("a name");
        let mut text = analysis.text.as_str().to_owned();
        for place in places
            .iter()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .map(|place| place.at)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .rev()
        {
            text.replace_range(place.start..place.end, "fresh_name");
        }
        let checkup = check_up("/m.iox", &text, &mut |_| Err(std::io::ErrorKind::NotFound.into()));
        assert!(checkup.loaded.model.is_some(), "{to}\n{text}\n{:?}", checkup.loaded.diagnostics);
    }
}

#[test]
fn signatures_show_the_parameter_at_hand() {
    let (analysis, offset) = queue("mood == calm", "twice(1, ¦");
    let help = signature::signature_help(&analysis, offset).expect("a signature");
    assert_eq!(help.signatures[0].label, "fn twice(n: int, m: int) -> int");
    assert_eq!(help.active_parameter, Some(1));
    let (analysis, offset) = queue("urgent: true)", "urgent: ¦)");
    let help = signature::signature_help(&analysis, offset).expect("a signature");
    let parameters = help.signatures[0].parameters.as_ref().expect("parameters");
    assert_eq!(parameters[1].label, ParameterLabel::Simple("urgent".into()));
    assert_eq!(help.active_parameter, Some(1));
    let (analysis, offset) = queue("ready.drop(1)", "ready.insert(0, ¦)");
    let help = signature::signature_help(&analysis, offset).expect("a signature");
    assert_eq!(help.signatures[0].label, "insert(at: int, item: T) -> list<T>");
    assert_eq!(help.active_parameter, Some(1));
}

#[test]
fn the_outline_has_states_with_their_transitions() {
    let (analysis, _) = queue("model Queue", "¦model Queue");
    let outline = symbol::document_outline(&analysis);
    assert_eq!(outline.len(), 1);
    let parts = outline[0].children.as_ref().expect("parts");
    let owing = parts.iter().find(|part| part.name == "owing").expect("a state");
    let labels: Vec<&str> = owing.children.iter().flatten().map(|part| part.name.as_str()).collect();
    assert_eq!(labels, ["got", "empty"]);
    assert!(parts.iter().any(|part| part.name == "in and out"));
}

#[test]
fn folds_are_blocks() {
    let (analysis, _) = queue("model Queue", "¦model Queue");
    let folds = fold::folding_ranges(&analysis);
    let model = folds.iter().find(|fold| fold.start_line == 1).expect("the model");
    assert_eq!(model.end_line as usize, QUEUE.lines().count() - 2);
    assert!(folds.len() >= 6, "{folds:?}");
}

#[test]
fn tokens_come_in_order_and_lie_in_the_text() {
    let (analysis, _) = queue("model Queue", "¦model Queue");
    let tokens = token::semantic_tokens(&analysis);
    let (mut line, mut column) = (0, 0);
    let lines: Vec<&str> = QUEUE.lines().collect();
    let mut words = BTreeMap::new();
    for token in tokens {
        column = if token.delta_line == 0 { column + token.delta_start } else { token.delta_start };
        line += token.delta_line;
        let (start, end) = (column as usize, (column + token.length) as usize);
        words.insert(lines[line as usize][start..end].to_owned(), token.token_type);
    }
    let kind = |word: &str| token::TYPES[words[word] as usize].as_str().to_owned();
    assert_eq!(kind("state"), "keyword");
    assert_eq!(kind("PUT"), "event");
    assert_eq!(kind("calm"), "enumMember");
    assert_eq!(kind("twice"), "function");
    assert_eq!(kind("owing"), "class");
    assert_eq!(kind("3"), "number");
}

#[test]
fn lenses_run_tests_and_show_the_last_campaign() {
    let (analysis, _) = queue("model Queue", "¦model Queue");
    let titles = |last: Option<&LastCampaign>| -> Vec<String> {
        let lenses = lens::lenses(&analysis, last);
        lenses.into_iter().filter_map(|lens| lens.command.map(|command| command.title)).collect()
    };
    let plain = titles(None);
    assert_eq!(plain.iter().filter(|title| *title == "run this purpose").count(), 3);
    assert_eq!(plain.iter().filter(|title| *title == "run this test").count(), 1);
    assert_eq!(plain.iter().filter(|title| *title == "step from here").count(), 2);
    let fates = [
        ("put", SwitchFate::Taken),
        ("get", SwitchFate::Never),
        ("got", SwitchFate::Perhaps),
        ("tick@free", SwitchFate::Taken),
        ("tick@owing", SwitchFate::Never),
    ];
    let switches = fates.into_iter().map(|(label, fate)| (label.to_owned(), fate)).collect();
    let last = LastCampaign { record: "runs/campaign.jsonl".into(), switches, ..LastCampaign::default() };
    let shown = titles(Some(&last));
    for wanted in [
        "taken",
        "never taken",
        "possibly taken",
        "taken in 1 of 2 states",
        "last campaign: 2 transitions taken, 2 never",
    ] {
        assert!(shown.iter().any(|title| title == wanted), "{wanted}: {shown:?}");
    }
}

#[test]
fn quick_fixes_mend_what_they_say() {
    let (analysis, offset) = queue("-> owing", "-> ow¦ng");
    let checkup =
        check_up(&analysis.path, analysis.text.as_str(), &mut |_| Err(std::io::ErrorKind::NotFound.into()));
    let place = analysis.text.range(offset, offset);
    let fixes = action::find_fixes(&analysis.text, &checkup.loaded.diagnostics, place);
    assert_eq!(fixes.len(), 1, "{:?}", checkup.loaded.diagnostics);
    assert_eq!(fixes[0].title, "replace `owng` by `owing`");
    let mended = analysis.text.replace_range(Some(fixes[0].edit.range), &fixes[0].edit.new_text);
    assert_eq!(mended.as_str(), QUEUE);
}

#[test]
fn the_layout_is_that_of_the_formatter() {
    let (analysis, _) = queue("    var mood: Mood = calm", "¦  var   mood :Mood=calm");
    let edits = layout::format_edits(&analysis).expect("a layout");
    assert_eq!(edits.len(), 1);
    let once = analysis.text.replace_range(Some(edits[0].range), &edits[0].new_text);
    assert!(once.as_str().contains("    var mood: Mood = calm\n"));
    let again = TextAnalysis::new("/q.iox", once);
    assert_eq!(layout::format_edits(&again), Some(Vec::new()));
    let (broken, _) = queue("model Queue {", "¦model Queue (");
    assert_eq!(layout::format_edits(&broken), None);
}

/// A line that is half written leaves the rest of the text as it was.
#[test]
fn errors_in_a_line_leave_the_others_alone() {
    for half in [
        "get: on GET when ",
        "get: on GET when ready.",
        "get: on GET { ready = ",
        "get: on GET -> ",
        "get: on GET {",
    ] {
        let text = QUEUE.replacen("get: on GET -> owing", half, 1);
        let analysis = TextAnalysis::new("/q.iox", DocumentText::new(text));
        let names: Vec<&str> = analysis.index.definitions.iter().map(|found| found.name.as_str()).collect();
        for wanted in ["put", "get", "got", "empty", "owing", "served", "in and out"] {
            assert!(names.contains(&wanted), "{half}: {wanted} is not among {names:?}");
        }
    }
    for heading in ["model  {", "state  {"] {
        let text = QUEUE.replacen(
            if heading.starts_with('m') { "model Queue {" } else { "state free {" },
            heading,
            1,
        );
        let analysis = TextAnalysis::new("/q.iox", DocumentText::new(text));
        assert!(analysis.index.definitions.iter().any(|found| found.name == "got"), "{heading}");
    }
}

const SYSTEM: &str = "system Shop {
    use Queue from \"queue.iox\"
    const N = 2
    queue[i in 1..N]: Queue(CAP: i)
    other: Queue
    queue[i].GOT -> other.PUT(body: \"x\")
    hide other.EMPTY
}
";

struct Folder(BTreeMap<String, Arc<TextAnalysis>>);

impl TextLibrary for Folder {
    fn analysis(&self, path: &str) -> Option<Arc<TextAnalysis>> {
        self.0.get(path).cloned()
    }
}

fn folder(system: &str) -> Folder {
    let texts = [("/models/queue.iox", QUEUE), ("/models/shop.iox", system)];
    let analysed = texts.map(|(path, text)| {
        (path.to_owned(), Arc::new(TextAnalysis::new(path, DocumentText::new(text.to_owned()))))
    });
    Folder(analysed.into_iter().collect())
}

#[test]
fn systems_lead_into_other_files() {
    let folder = folder(SYSTEM);
    let shop = folder.analysis("/models/shop.iox").expect("the system");
    let at = |word: &str| SYSTEM.find(word).expect("a word");
    for (word, expected) in [
        ("\"queue.iox\"", "Queue {"),
        ("CAP: i", "CAP: Size"),
        ("GOT ->", "GOT(id: int)"),
        ("PUT(body", "PUT(body"),
        ("body: \"x\"", "body: string"),
    ] {
        let place = definition::definition_place(&shop, at(word), &folder).expect(word);
        assert_eq!(place.path, "/models/queue.iox");
        assert!(QUEUE[place.at.start..].starts_with(expected), "{word}");
    }
    let place = definition::definition_place(&shop, at("Queue(CAP"), &folder).expect("a model");
    assert_eq!(place.path, "/models/queue.iox");
    let place = definition::definition_place(&shop, at("other.PUT"), &folder).expect("a part");
    assert!(SYSTEM[place.at.start..].starts_with("other: Queue"));
}

#[test]
fn a_message_is_renamed_in_the_systems_that_use_it() {
    let folder = folder(SYSTEM);
    let queue = folder.analysis("/models/queue.iox").expect("the model");
    let others: Vec<Arc<TextAnalysis>> = folder.0.values().cloned().collect();
    let offset = QUEUE.find("GOT(id").expect("the message");
    let places = rename::rename(&queue, offset, "SERVED", &folder, &others).expect("a name");
    let in_shop = places.iter().filter(|place| place.path == "/models/shop.iox").count();
    assert_eq!((in_shop, places.len()), (1, 1 + QUEUE.matches("GOT").count()));
}

#[test]
fn completion_knows_the_parts_of_a_system() {
    let complete = |marked: &str| -> Vec<String> {
        let offset = marked.find('¦').expect("a cursor");
        let folder = folder(&marked.replacen('¦', "", 1));
        let shop = folder.analysis("/models/shop.iox").expect("the system");
        completion::complete(&shop, offset, &folder).into_iter().map(|item| item.label).collect()
    };
    let messages = complete(&SYSTEM.replacen("other.PUT", "other.¦PUT", 1));
    assert!(messages.contains(&"PUT".to_owned()) && messages.contains(&"EMPTY".to_owned()), "{messages:?}");
    for index in ["i", "a[i]", "(a[i] + 1)", "a[b[i]][1]"] {
        let messages = complete(&SYSTEM.replacen("queue[i].GOT", &format!("queue[{index}].¦GOT"), 1));
        assert!(messages.contains(&"GOT".to_owned()), "{index}: {messages:?}");
    }
    for (part, cursor) in [("other: Queue", "other: ¦"), ("1..N]: Queue", "1..N]: ¦")] {
        let models = complete(&SYSTEM.replacen(part, cursor, 1));
        assert!(models.contains(&"Queue".to_owned()) && models.contains(&"fifo".to_owned()), "{models:?}");
    }
    let parts = complete(&SYSTEM.replacen("hide other", "hide ¦", 1));
    assert!(parts.contains(&"other".to_owned()), "{parts:?}");
}
