/** The agents that workers run, by the names under which tasks ask for them: docs/tasks.md. */
export default [
  {
    name: "echo",
    async run(context) {
      return { output: context.input };
    },
  },
];
