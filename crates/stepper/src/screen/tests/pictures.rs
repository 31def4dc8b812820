//! The screen as text, in several sizes and states.

use super::*;

pub const SHOP: &str = "model Shop { enum Size { small, large }
    input order(size: Size, n: 1..9, name: string) observed input refund(id: int) output cup(size: Size) output sorry
    var big: Size = small var count: int = 0
    /// Open for everybody.
    state open { a: on order { big = size, count = count + n } -> served r: on refund when count > 0 { count = 0 } }
    state served { t: internal when count > 5 -> tired b: emit cup(size: big) -> open }
    state tired { c: emit sorry -> open } }";

#[test]
fn the_panels() {
    play(ADDER, |screen| insta::assert_snapshot!(screen.press("Enter 7 Enter").picture(80, 24)));
}

#[test]
fn a_small_window() {
    play(ADDER, |screen| insta::assert_snapshot!(screen.press("Enter 7 Enter").picture(40, 12)));
}

#[test]
fn several_states_and_a_form() {
    play(SHOP, |screen| {
        screen.press("i order(size:_large,n:_9,name:_\"me\") Enter");
        insta::assert_snapshot!("belief", screen.picture(80, 24));
        insta::assert_snapshot!("form", screen.press("u Enter Down 3").picture(80, 24));
    });
}

#[test]
fn the_symbolic_walk() {
    play(ADDER, |screen| insta::assert_snapshot!(screen.press("m Enter Enter x").picture(80, 24)));
}

#[test]
fn the_help() {
    play(ADDER, |screen| insta::assert_snapshot!(screen.press("?").picture(80, 24)));
}

#[test]
fn a_recorded_run() {
    let run = ["inX(p: 7)", "outX(p: 7)", "inX(p: 3)", "outX(p: 11)"];
    play_run(ADDER, &run, 3, |screen| insta::assert_snapshot!(screen.press("r").picture(80, 24)));
}
