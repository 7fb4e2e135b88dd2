// Tasks for the pictures: one has completed, one has failed, one runs until `end`.

/** Starts the tasks with the command line; `run` calls it. */
export function startTasks(run) {
  const start = (title, script, ...more) =>
    run("task", "run", "--title", title, ...more, "--", "sh", "-c", script);
  start(
    "Tests of the intake",
    "for n in 1 2 3 4; do echo ok $n - accepts a late scan; done; echo '# pass 4'",
  );
  try {
    start("Lint the depot service", "echo src/http/routes.ts:41 unused import >&2; exit 2");
  } catch {
    // It fails on purpose.
  }
  start(
    "Load test of the scan queue",
    "n=0; while sleep 1; do n=$((n+1)); echo minute $n: $((1180+n*7)) scans, slowest 48 ms; done",
    ...["--background", "--id", "load-test"],
  );
  return { end: () => run("task", "kill", "load-test") };
}
