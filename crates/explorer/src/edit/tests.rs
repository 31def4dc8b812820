use std::sync::{Mutex, PoisonError};

use ioxide_lang::{LoadOptions, load};

use super::*;

/// An editor of a file in memory.
struct MemoryEditor(Mutex<Result<String, FileError>>);

impl MemoryEditor {
    fn new(text: &str) -> Self {
        Self(Mutex::new(Ok(text.to_owned())))
    }

    fn put(&self, text: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Ok(text.to_owned());
    }
}

impl ModelEditor for MemoryEditor {
    fn analyse(&self, text: &str) -> AnalysedText {
        let mut sources = Sources::new();
        let file = sources.add("m.iox", text);
        let loaded = load(&sources, file, &LoadOptions::default());
        AnalysedText { sources, file, model: loaded.model, diagnostics: loaded.diagnostics }
    }

    fn read(&self) -> Result<String, FileError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, text: &str) -> Result<(), FileError> {
        self.put(text);
        Ok(())
    }

    fn has_runs(&self) -> bool {
        false
    }

    fn find_repairs(&self, _: &str) -> Result<Vec<TextRepair>, NoRepair> {
        Err(NoRepair("no run is recorded".into()))
    }
}

const ECHO: &str = "model M {\n    input go\n    state s { a: on go -> s }\n}\n";

#[test]
fn a_text_is_changed_and_saved() {
    let editor = MemoryEditor::new(ECHO);
    let mut draft = ModelDraft::new(ECHO.to_owned());
    assert!(draft.is_saved() && draft.findings(&editor).is_empty());
    let text = ECHO.replace("a:", "b:");
    let analysed = draft.change(&editor, 0, &text).expect("nobody else has changed it");
    let model = analysed.model.expect("the text is a model");
    assert_eq!(&*model.sts.switches.iter().next().expect("a switch").label, "b");
    assert!(!draft.is_saved());
    draft.save(&editor, 1).expect("the file is as it was");
    assert!(draft.is_saved());
    assert_eq!(editor.read(), Ok(text));
}

#[test]
fn a_text_with_errors_has_places_and_no_model() {
    let editor = MemoryEditor::new(ECHO);
    let mut draft = ModelDraft::new(ECHO.to_owned());
    // A character of two units of UTF-16 before the place.
    let text = ECHO.replace("model M {", "// 😀\nmodel M {").replace("on go", "on gone");
    assert!(draft.change(&editor, 0, &text).expect("a change").model.is_none());
    let findings = serde_json::to_value(draft.findings(&editor)).expect("JSON");
    let units: Vec<u16> = text.encode_utf16().collect();
    let place =
        |key: &str| findings[0][key].as_u64().and_then(|n| usize::try_from(n).ok()).expect("a number");
    assert_eq!(String::from_utf16_lossy(&units[place("from")..place("to")]), "gone");
    assert_eq!((place("line"), findings[0]["severity"].as_str()), (4, Some("error")));
    // A text with errors can be saved all the same.
    draft.save(&editor, 1).expect("saved");
    assert_eq!(editor.read(), Ok(text));
}

#[test]
fn a_change_that_began_from_an_older_text_is_refused() {
    let editor = MemoryEditor::new(ECHO);
    let mut draft = ModelDraft::new(ECHO.to_owned());
    draft.change(&editor, 0, "one").expect("the first");
    assert_eq!(draft.change(&editor, 0, "two").err(), Some(EditRefusal::Outdated));
    assert_eq!(draft.save(&editor, 0), Err(EditRefusal::Outdated));
    assert_eq!((draft.text(), draft.revision()), ("one", 1));
}

#[test]
fn a_file_that_another_program_has_changed_is_not_overwritten() {
    let editor = MemoryEditor::new(ECHO);
    let mut draft = ModelDraft::new(ECHO.to_owned());
    draft.change(&editor, 0, "mine").expect("a change");
    editor.put("theirs");
    assert!(draft.is_changed_on_disk(&editor));
    assert_eq!(draft.save(&editor, 1), Err(EditRefusal::ChangedOnDisk));
    assert_eq!(editor.read(), Ok("theirs".to_owned()));
    // Loaded again, it can be changed and saved.
    draft.load_again(&editor).expect("it can be read");
    assert_eq!((draft.text(), draft.revision(), draft.is_saved()), ("theirs", 2, true));
    draft.change(&editor, 2, "both").expect("a change");
    draft.save(&editor, 3).expect("saved");
    assert_eq!(editor.read(), Ok("both".to_owned()));
    // A file that has the text already is as good as saved.
    draft.change(&editor, 3, "same").expect("a change");
    editor.put("same");
    draft.save(&editor, 4).expect("nothing is lost");
    assert!(draft.is_saved());
}

#[test]
fn a_file_that_is_gone_is_an_error() {
    let editor = MemoryEditor::new(ECHO);
    let mut draft = ModelDraft::new(ECHO.to_owned());
    let gone = FileError("it is gone".into());
    *editor.0.lock().unwrap_or_else(PoisonError::into_inner) = Err(gone.clone());
    assert_eq!(draft.save(&editor, 0), Err(EditRefusal::File(gone)));
    assert!(draft.load_again(&editor).is_err());
    assert_eq!(draft.text(), ECHO);
}

#[test]
fn a_file_keeps_its_line_ends() {
    let windows = ECHO.replace('\n', "\r\n");
    let editor = MemoryEditor::new(&windows);
    let mut draft = ModelDraft::new(windows.clone());
    assert_eq!((draft.text(), draft.is_saved()), (ECHO, true));
    draft.change(&editor, 0, &ECHO.replace("a:", "b:")).expect("a change");
    draft.save(&editor, 1).expect("saved");
    assert_eq!(editor.read(), Ok(windows.replace("a:", "b:")));
}
