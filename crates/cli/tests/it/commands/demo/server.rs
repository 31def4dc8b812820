//! Tests of `commands::demo::server`.

use ioxide_cli::commands::demo::server::{OfficeServer, SEATS};

fn replies(server: OfficeServer, lines: &[&str]) -> Vec<String> {
    let mut free = SEATS;
    lines.iter().map(|line| server.reply(line, &mut free)).collect()
}

#[test]
fn only_the_faulty_server_takes_seats_for_a_refused_reservation() {
    let lines = ["RESERVE 10", "RESERVE 1", "CANCEL 1", "CANCEL 10", "RESET", "LEAVE"];
    assert_eq!(replies(OfficeServer::Correct, &lines), ["OK 0", "FULL", "OK 1", "NOTHING", "READY", "ERROR"]);
    assert_eq!(replies(OfficeServer::Faulty, &lines), ["OK 0", "FULL", "OK 0", "OK 10", "READY", "ERROR"]);
}
