//! A system that is learned, watched in a real browser.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::browser::driver::Browser;
use crate::browser::explorer::root;

/// Learning that is watched; it ends with the test.
pub struct WatchedLearning {
    program: Child,
    /// The address, with the token.
    pub url: String,
}

impl WatchedLearning {
    pub fn start(args: &[&str]) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .arg("learn")
            .args(args)
            .arg("--view")
            .current_dir(root())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut said = BufReader::new(program.stderr.take().expect("stderr is piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        // Whatever else it says is read, so that it can go on.
        std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
        let url =
            line.trim().strip_prefix("watch it at ").unwrap_or_else(|| panic!("an address, not `{line}`"));
        Self { program, url: url.to_owned() }
    }

    pub fn interrupt(&mut self) {
        let id = self.program.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
        self.program.wait().expect("it ends");
    }
}

impl Drop for WatchedLearning {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

const METER: &str = "examples/fsm/meter.iox";

#[test]
fn a_hypothesis_grows_before_the_eyes_of_whoever_watches() {
    let Some(browser) = Browser::open() else { return };
    let system = format!("stdio:{} sut {METER} --stdio", env!("CARGO_BIN_EXE_ioxide"));
    let inputs = ["--input", "press", "--input", "coin(value: 1)"];
    let options = ["--extra", "1", "--silence-ms", "150", "--seed", "1"];
    let mut learning = WatchedLearning::start(&[&[METER, "--sut", &system][..], &inputs, &options].concat());
    browser.go(&learning.url);
    browser.wait_for("/^(Asking|Testing)/.test(document.querySelector('#phase')?.textContent ?? '')");
    browser.wait_for("document.querySelectorAll('.node').length >= 1");
    browser.wait_for_element("#result");
    assert_eq!(browser.text("#result"), "Learned");
    browser.wait_for("document.querySelectorAll('.node').length === 4");
    assert!(
        browser.text("#surprise").contains("Counterexample to hypothesis"),
        "{}",
        browser.text("#surprise")
    );
    // It has grown: the picture is of a later hypothesis than the one that was refuted. How many states the page showed
    // first says nothing, since that depends on how fast it was opened.
    browser.wait_for(
        "Number(document.querySelector('.picture').dataset.hypothesis)
            > Number(/hypothesis (\\d+)/.exec(document.querySelector('#surprise h2').textContent)[1])",
    );
    assert_eq!((browser.text("#states"), browser.text("#inputs")), ("4".into(), "2".into()));
    assert_eq!(browser.text("#out"), "The model was printed on the terminal.");
    browser.is_calm();
    // The command ends; what was told stays.
    learning.interrupt();
    browser.wait_for_element(".problem");
    assert!(browser.text(".problem").contains("The command has ended"), "{}", browser.text(".problem"));
    assert_eq!(browser.count(".node"), 4);
}

#[test]
fn variables_and_guards_are_drawn() {
    let Some(browser) = Browser::open() else { return };
    let auction = "examples/learn/auction.iox";
    let system = format!("model:{auction}");
    let learning = WatchedLearning::start(&[auction, "--sut", &system, "--data", "--seed", "1"]);
    browser.go(&learning.url);
    browser.wait_for_element("#result");
    browser.wait_for("document.querySelectorAll('.node').length === 2");
    assert!(browser.text(".drawn").contains("(kept_amount)"), "{}", browser.text(".drawn"));
    assert!(browser.count(".label .guard") >= 1, "{}", browser.text(".drawn"));
    assert!(
        browser.text("#since").starts_with("Since hypothesis ")
            && browser.text("#since").contains(": 1 new states"),
        "{}",
        browser.text("#since")
    );
    assert!(browser.count(".node.new") == 1 && browser.count(".edge.new") >= 1);
    browser.is_calm();
}
