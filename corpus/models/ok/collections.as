// What an action system may hold: records, cases with fields, lists, sets and maps.
def Collections {
    types {
        Small = [0..3]
        Job = { id: Small, urgent: Bool }
        Reply = [Nothing | Taken(job: Job) | Refused(reason: Small, why: string)]
        Queue = list<Job>
        Flags = list<Bool>
        Last = Small?
    }
    state { waiting: Queue  seen: set<Small>  owner: map<Small, Job>  flags: Flags  last: Last  reply: Reply }
    init { waiting := []  seen := {}  owner := {}  flags := [True, False]  last := none  reply := Nothing }
    actions {
        ?put(job: Job)
            if waiting.length() < 3 && !seen.has(job.id)
            then {
                waiting := if job.urgent then [job] + waiting else waiting + [job]
                seen := seen.with(job.id)
                flags[0] := job.urgent
            }
        ?take()
            if let some(first) = waiting.first() && reply == Nothing
            then {
                waiting := waiting.drop(1)
                owner[first.id] := first
                last := some(first.id)
                reply := Taken(job: first)
            }
        !taken(job: Job) if let Taken(given) = reply && job == given then { reply := Nothing }
        ?drop(id: Small) if owner.has(id) then { owner := owner.without(id); seen := seen.without(id) }
        !idle() if waiting.is_empty() && !(exists id in owner: owner[id].urgent) && flags[1] then { flags[1] := False }
        wake() if !flags[1] && (count job in waiting: job.urgent) > 1 then { flags := [False, True] }
    }
}
