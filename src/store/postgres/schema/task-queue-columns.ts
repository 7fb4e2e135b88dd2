/** The queue in which a task waits for a worker, and the person on whose behalf it runs. */
export const TASK_QUEUE_COLUMNS = `
ALTER TABLE @tasks ADD COLUMN queue text, ADD COLUMN person text;
CREATE INDEX tasks_running ON @tasks (queue, person) WHERE queue IS NOT NULL AND state IN ('running', 'detaching');
`;
