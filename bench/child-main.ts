import type { ChildAnswer, ChildJob, ChildTask } from "./child-job.ts";

// The channel closes when the parent is gone for any reason, and the result would have no reader.
process.once("disconnect", () => process.exit(1));
process.once("message", async (job: ChildJob) => {
  const answer = await answerTo(job);
  process.send?.(answer, () => process.exit(0));
});

async function answerTo({ moduleUrl, taskName, input, place }: ChildJob): Promise<ChildAnswer> {
  try {
    const module = (await import(moduleUrl)) as Record<string, ChildTask<unknown, unknown>>;
    const task = module[taskName];
    if (!task) throw new Error(`${moduleUrl} does not export ${taskName}.`);
    return { output: await task(input, place) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
