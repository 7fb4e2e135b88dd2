import { beforeEach } from "vitest";

/** Leaves the everyday tests of a file to the everyday suite. */
beforeEach(({ task, skip }) => {
  if (!task.meta.isProof && !task.meta.isSized) skip();
});
