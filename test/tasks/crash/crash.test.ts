import { testFolder } from "../../support/folder.ts";
import { MOMENTS } from "../../support/kill-place.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { type CrashPlace, crashAt } from "./rounds.ts";

/** Places of a task that can resume: its creation, checkpoints and end. */
const resumable = (task: number): readonly CrashPlace[] =>
  ["created 1", "entry 1", "entry 2", "entry 3", "running>completed 1", "notice 1"].flatMap((step) =>
    MOMENTS.map((moment): CrashPlace => {
      const isWritten = moment === "after";
      if (step === "created 1" && !isWritten) return { task, step, moment, end: undefined };
      const isOver = step === "notice 1" || (step === "running>completed 1" && isWritten);
      return { task, step, moment, end: "completed", resumes: isOver ? 0 : 1 };
    }),
  );

/** The same places of a task that cannot resume, and is lost unless its end was written. */
const lost = (task: number): readonly CrashPlace[] =>
  resumable(task).map((place) => ({ ...place, end: place.resumes === 1 ? "failed" : place.end, resumes: 0 }));

const detached: readonly CrashPlace[] = ["running>detaching 1", "detaching>running 1"].flatMap((step) =>
  MOMENTS.map((moment) => ({ task: 0, step, moment, end: "completed", resumes: 1 })),
);

const killed: readonly CrashPlace[] = MOMENTS.map((moment) => ({
  task: 5,
  step: "running>killed 1",
  moment,
  end: moment === "after" ? "killed" : "failed",
}));

/** In the everyday suite, one place each for a task that is resumed, lost, ended without its notice, and killed. */
const places: readonly CrashPlace[] = [
  { task: 3, step: "entry 2", moment: "after", end: "completed", resumes: 1 },
  { task: 1, step: "entry 2", moment: "inside", end: "failed" },
  { task: 3, step: "running>completed 1", moment: "after", end: "completed" },
  { task: 5, step: "running>killed 1", moment: "after", end: "killed" },
  ...resumable(0),
  ...lost(1),
  ...lost(2).filter(({ step }) => !/entry [23]/.test(step)),
  ...detached,
  ...killed,
];

sizedTest.each(proofCases(places, 4))(
  "a supervisor that is killed $moment the commit of '$step' of task $task leaves each task with one owner, end and notice",
  async (place) => {
    await crashAt(testFolder(), place);
  },
);
