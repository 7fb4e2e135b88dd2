/** A defect that is planted in a source of the program when it is loaded. */
export interface Defect {
  readonly name: string;
  /** The file below src. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** Defects of tasks, of the log, of replies and of budgets, each of which the simulation finds. */
export const DEFECTS: readonly Defect[] = [
  {
    name: "an end of a task that others may announce too",
    file: "tasks/journal.ts",
    find: 'expect: { epoch: task.epoch, notice: "due" },',
    replace: "expect: { epoch: task.epoch },",
  },
  {
    name: "a task whose handover fences nobody off",
    file: "tasks/journal.ts",
    find: "const epoch = task.epoch + (isHandover(event) ? 1 : 0);",
    replace: "const epoch = task.epoch;",
  },
  {
    name: "entries of an agent that no epoch fences",
    file: "tasks/journal.ts",
    find: "await this.#log.append(task.session, items, { task: { id: task.id, expect: { epoch } } });",
    replace: "await this.#log.append(task.session, items);",
  },
  {
    name: "a task that is recovered from its beginning",
    file: "tasks/task-progress.ts",
    find: "return { ...memory, checkpoint: note.value };",
    replace: "return memory;",
  },
  {
    name: "a due notice that nobody writes after a crash",
    file: "tasks/sweeper.ts",
    find: 'if (isTerminal(task.state)) return task.notice === "told" ? "deliver" : "finish";',
    replace: 'if (isTerminal(task.state)) return task.notice === "told" ? "deliver" : "leave";',
  },
  {
    name: "a running task that nobody takes over",
    file: "tasks/sweeper.ts",
    find: 'if (isTerminal(task.state)) return task.notice === "told" ? "deliver" : "finish";',
    replace: 'if (task.state === "running") return "leave";\n  if (isTerminal(task.state)) return "finish";',
  },
  {
    name: "a lease that is not renewed",
    file: "tasks/owner-lease.ts",
    find: "this.#cancel = timer.after(leaseMs / 3, () => {",
    replace: "this.#cancel = timer.after(leaseMs * 10, () => {",
  },
  {
    name: "appends that are acknowledged although the store refused them",
    file: "log/commit-queue.ts",
    find: "else for (const { reject } of group) reject(error);",
    replace: "else for (const { resolve } of group) resolve({ firstSeq: 1, ats: [Date.now()] });",
  },
  {
    name: "outcomes of a group commit that go to the wrong callers",
    file: "log/commit-queue.ts",
    find: "const outcome = outcomes[index] as AppendOutcome;",
    replace: "const outcome = outcomes[outcomes.length - 1 - index] as AppendOutcome;",
  },
  {
    name: "a draft that stays behind when its message is finished",
    file: "log/draft.ts",
    find: "const extras = this.#isStored ? { ...position, finishes: this.id } : position;",
    replace: "const extras = position;",
  },
  {
    name: "a reply that is passed on before it is stored",
    file: "server/gateway/call/reply-recorder.ts",
    find: "    return this.#storing;",
    replace: "    return undefined;",
  },
  {
    name: "a reply that is not stored",
    file: "server/gateway/call/reply-recorder.ts",
    find: "this.#appended = this.#place.append(this, isEnd);",
    replace: "this.#appended = Promise.resolve();",
  },
  {
    name: "messages whose words do not count for their key",
    file: "server/gateway/identity/canonical-key.ts",
    find: "for (const piece of pieces) joined +=",
    replace: 'for (const piece of [""]) joined +=',
  },
  {
    name: "a budget that counts nothing",
    file: "kernel/team/budget-gate.ts",
    find: "settled ??= this.#settle(id, amounts);",
    replace: "settled ??= this.#settle(id, []);",
  },
  {
    name: "a newest message that is not stored before it is sent",
    file: "kernel/calls/conversation.ts",
    find: "appendMessages(this.#session, this.#lineCache, fresh, head);",
    replace: "appendMessages(this.#session, this.#lineCache, fresh.slice(0, -1), head);",
  },
];
