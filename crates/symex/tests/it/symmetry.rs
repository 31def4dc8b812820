//! Tests of [`ioxide_symex::symmetry`].

use ioxide_symex::Symmetry;

fn symmetry(text: &str) -> Symmetry {
    let mut sources = ioxide_model::source::Sources::new();
    let file = sources.add("s.iox", text);
    let mut model =
        ioxide_lang::load(&sources, file, &ioxide_lang::LoadOptions::default()).model.expect("loads");
    Symmetry::find(&mut model.pool, &model.sts, &[])
}

const CLIENT: &str = "model Client { const ID = 0
    input ask(n: 0..3)  output say(id: int, n: 0..3)  var last: 0..3 = 0
    state idle { on ask { last = n } -> busy }  state busy { emit say(id: 0, n: last) -> idle } }
    model Server { input post(from: int, n: 0..3)  output all(n: 0..3)  var who: int = 0  var last: 0..3 = 0
    state s { on post { last = n } -> t }  state t { emit all(n: last) -> s } }";

#[test]
fn instances_that_nothing_tells_apart_are_found() {
    let alike = symmetry(&format!("{CLIENT}\nsystem S {{ c[i in 1..3]: Client }}"));
    assert_eq!((alike.count_interchangeable(), alike.groups.len()), (3, 1));
    let wired = format!(
        "{CLIENT}\nsystem S {{ c[i in 1..3]: Client\n s: Server\n c[i].say -> s.post(from: 7)\n hide c.say }}"
    );
    assert_eq!(symmetry(&wired).count_interchangeable(), 3);
}

#[test]
fn identities_and_constants_tell_instances_apart() {
    let constant = CLIENT.replace("id: 0", "id: ID");
    let constant = format!("{constant}\nsystem S {{ c[i in 1..3]: Client(ID: i) }}");
    assert!(symmetry(&constant).is_empty());
    let stored = CLIENT.replace("{ last = n } -> t", "{ last = n, who = from } -> t");
    let stored = format!(
        "{stored}\nsystem S {{ c[i in 1..3]: Client\n s: Server\n c[i].say -> s.post(from: i)\n hide c.say }}"
    );
    assert!(symmetry(&stored).is_empty());
    let one =
        format!("{CLIENT}\nsystem S {{ c[i in 1..3]: Client\n s: Server\n c[1].say -> s.post(from: 7) }}");
    assert!(symmetry(&one).count_interchangeable() <= 2);
}
