//! Tests of `read`.

mod dot;
mod kiss;
mod table;

use ioxide_fsm::read::{MachineFormat, read};

const FORMS: [MachineFormat; 4] =
    [MachineFormat::Dot, MachineFormat::Kiss2, MachineFormat::Table, MachineFormat::Numbers];

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        for form in FORMS {
            let _ = read(form, &text);
        }
    }

    #[test]
    fn almost_machines_are_read_or_refused(
        text in "(digraph|\\.i 2|\\.r|\\.e|[ {}\\[\\]\"/\\\\;=>\n-]|label|__start0|s[01]|[01*#]){0,60}",
    ) {
        for form in FORMS {
            let _ = read(form, &text);
        }
    }
}
