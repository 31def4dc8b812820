// The queue of `fifo.iox` as an action system: one action for every message, and what is owed is part of the state.
def Fifo {
    types {
        Item = [0..5]
        Owed = [Nothing | Full | Answer]
    }
    state {
        q: list<Item>
        owed: Owed
    }
    init {
        q := []
        owed := Nothing
    }
    actions {
        ?put(x: Item)
            if owed == Nothing
            then {
                q := if q.length() < 3 then q + [x] else q
                owed := if q.length() < 3 then Nothing else Full
            }
        ?get() if owed == Nothing then { owed := Answer }
        !full() if owed == Full then { owed := Nothing }
        !got(x: int)
            if let some(first) = q.first() && owed == Answer && x == first
            then {
                q := q.drop(1)
                owed := Nothing
            }
        !empty() if owed == Answer && q.is_empty() then { owed := Nothing }
    }
}
