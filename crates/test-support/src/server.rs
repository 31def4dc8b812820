//! Servers that tests write themselves.

use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts a server that handles every connection so, each in a thread of its own, and returns its address.
pub fn serve_connections(handle: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = handle.clone();
            thread::spawn(move || handle(stream));
        }
    });
    address
}
