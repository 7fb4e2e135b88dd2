import { describe, expect, test } from "vitest";
import type { TaskRecord } from "../../src/log/store/task-store.ts";
import { decideRecovery } from "../../src/tasks/sweeper.ts";

const facts = { now: 1_000, isRegistered: true, hasRoom: true, maxResumes: 3, abandonMs: 5_000 };
const task: TaskRecord = {
  id: "t",
  session: "s",
  agent: "a",
  state: "running",
  mode: "background",
  owner: "dead",
  epoch: 1,
  canResume: true,
  resumes: 0,
  attempts: 0,
  createdAt: 0,
  firstSeq: 1,
  lastSeq: 0,
  noticeSeq: 0,
};

describe("a task whose owner is dead", () => {
  test("a task of a dead owner is resumed where its agent is known and can resume", () => {
    expect(decideRecovery(task, facts)).toBe("resume");
  });

  test("a task of a dead owner is lost if its agent cannot resume, or if the task has ended too many owners", () => {
    expect(decideRecovery({ ...task, canResume: false }, facts)).toBe("lose");
    expect(decideRecovery({ ...task, resumes: 3 }, facts)).toBe("lose");
  });

  test("a task of a dead owner waits for a process with its agent and with room, but not forever", () => {
    expect(decideRecovery(task, { ...facts, isRegistered: false })).toBe("release");
    expect(decideRecovery(task, { ...facts, hasRoom: false })).toBe("release");
    const { owner: _, ...ownerless } = { ...task, state: "queued" as const };
    expect(decideRecovery(ownerless, { ...facts, isRegistered: false })).toBe("leave");
    expect(decideRecovery(ownerless, { ...facts, isRegistered: false, now: 5_001 })).toBe("lose");
  });

  test("a task of a dead owner that never started can start with any agent", () => {
    expect(decideRecovery({ ...task, state: "queued", canResume: false }, facts)).toBe("resume");
  });

  test("a task of a dead owner is ended if a kill was requested or its deadline has passed", () => {
    expect(decideRecovery({ ...task, wish: "kill" }, facts)).toBe("kill");
    expect(decideRecovery({ ...task, deadlineAt: 1_000 }, facts)).toBe("expire");
  });

  test("an ended task of a dead owner gets its notice", () => {
    expect(decideRecovery({ ...task, state: "failed", notice: "due" }, facts)).toBe("finish");
    expect(decideRecovery({ ...task, state: "failed", notice: "told" }, facts)).toBe("deliver");
  });
});
