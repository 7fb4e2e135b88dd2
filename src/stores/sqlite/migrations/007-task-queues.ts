/** The queue in which a task waits for a worker, and the person on whose behalf it runs. */
export const TASK_QUEUES_MIGRATION = `
ALTER TABLE tasks ADD COLUMN queue TEXT;
ALTER TABLE tasks ADD COLUMN person TEXT;
`;
