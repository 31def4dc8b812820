//! Any keys, any size: nothing breaks, and every screen says what can be done.

use super::*;

/// A small generator: the same keys in every run of the test.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

const KEYS: &[KeyCode] = &[
    KeyCode::Enter,
    KeyCode::Enter,
    KeyCode::Esc,
    KeyCode::Tab,
    KeyCode::BackTab,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::F(1),
    KeyCode::F(2),
    KeyCode::Insert,
];

const CHARS: &str = "qurmwsxidp/?<> 0123456789abc(:)\"éδ\u{202e}漢";

#[test]
fn any_keys_on_any_size_are_survived() {
    for (seed, text) in [(1, ADDER), (2, LAMP), (3, pictures::SHOP)] {
        play(text, |screen| {
            let mut random = Random(seed);
            let chars: Vec<char> = CHARS.chars().collect();
            for _ in 0..600 {
                let code = match random.below(3) {
                    0 => KEYS[random.below(KEYS.len() as u64) as usize],
                    _ => KeyCode::Char(chars[random.below(chars.len() as u64) as usize]),
                };
                screen.key(code.into());
                screen.picture(random.below(130) as u16, random.below(50) as u16);
            }
        });
    }
}

#[test]
fn every_screen_says_what_can_be_done() {
    for (keys, hint) in [
        ("", "? help"),
        ("Tab Tab", "Enter go there"),
        ("?", "Esc back"),
        ("Enter", "Enter send"),
        ("p", "p others"),
        ("i", "Enter give"),
        ("/", "Esc all moves"),
        ("m", "m concrete"),
        ("m Enter w", "Enter step through it"),
    ] {
        play(ADDER, |screen| {
            let picture = screen.press(keys).picture(80, 24);
            let below = picture.lines().rev().take(3).collect::<Vec<_>>().join(" ");
            assert!(below.contains(hint), "after `{keys}`:\n{picture}");
        });
    }
}

#[test]
fn the_help_explains_every_hint() {
    let explained: String = keys::HELP.iter().map(|(keys, _)| format!(" {keys} ")).collect();
    for keys in ["", "Tab", "Tab Tab", "m"] {
        play(LAMP, |screen| {
            screen.press(keys);
            for (hint, _) in keys::hints(&screen.state) {
                for key in hint.split(' ') {
                    assert!(explained.contains(&format!(" {key} ")), "`{key}` is not in the help");
                }
            }
        });
    }
}

#[test]
fn without_colours_there_are_none() {
    let coloured = |theme: Theme| {
        play(ADDER, |screen| {
            screen.press("x i outX(p:_8) Enter");
            let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a test terminal");
            terminal.draw(|frame| draw_screen(frame, &screen.state, theme)).expect("it can be drawn");
            let cells = terminal.backend().buffer().content();
            cells.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
        })
    };
    assert_eq!(coloured(Theme::Plain), 0);
    assert!(coloured(Theme::Colour) > 0);
}
