import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files: started last, they would run alone while the other core idles. */
const LONG = [
  "test/crash/crash.test.ts",
  "test/histories/fuzz.test.ts",
  "test/cli/task-run.test.ts",
  "test/tasks/crash/crash.test.ts",
  "test/tasks/model.test.ts",
  "test/server/gateway/killed-at-random.test.ts",
  "test/web/long-conversation.test.ts",
  "test/server/gateway/window.test.ts",
  "test/histories/simulated-year.test.ts",
];

/** Runs the slowest files first. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((path) => moduleId.endsWith(path));
      return index < 0 ? LONG.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
