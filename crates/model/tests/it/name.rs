//! Tests of [`ioxide_model::name`].

use ioxide_model::name::{is_quotable, shown_name, source_name};

#[test]
fn only_names_that_need_them_have_backquotes() {
    for plain in ["coin", "_x", "A9", "state"] {
        assert_eq!(source_name(plain), plain);
    }
    for odd in ["INIT-CHLO", "ServerHello & Certificate", "none", "9lives", "été", "a.b"] {
        assert_eq!(source_name(odd), format!("`{odd}`"));
    }
    assert_eq!(shown_name("client[2].draft"), "client[2].draft");
    assert_eq!(shown_name("INIT-CHLO"), "`INIT-CHLO`");
    assert_eq!(shown_name("none"), "`none`");
    assert!(!is_quotable("a`b") && !is_quotable("") && !is_quotable("a\tb"));
}
