/** Creates, uses and settles worktrees until it is killed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorktree } from "../../../src/tasks/worktree/create-worktree.ts";
import { removeIfUnchanged } from "../../../src/tasks/worktree/remove-worktree.ts";

const [, , repository = "", root = "", name = ""] = process.argv;
for (let index = 0; ; index++) {
  const { worktree } = await createWorktree({ repository, root, task: `${name}-${index}` });
  console.log(index);
  if (index % 2 === 0) writeFileSync(join(worktree.path, "work.txt"), "work");
  await removeIfUnchanged(worktree);
}
