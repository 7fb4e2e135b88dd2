import "./tasks.css";
import { PageTabs } from "../../components/page-tabs.tsx";
import type { PageProps } from "../../shell/page-route.ts";
import { place } from "../../shell/router.ts";
import { NoticesView } from "./notices-view.tsx";
import { TaskDetails } from "./task-details.tsx";
import { TaskList } from "./task-list.tsx";
import { tasksText as text } from "./tasks-text.ts";

/** All tasks, one task, or the notices about tasks that have ended. */
export default function TasksPage({ params, query }: PageProps) {
  if (params.task !== undefined) return <TaskDetails key={params.task} id={params.task} />;
  const isNotices = place.value.path.startsWith("/notices");
  return (
    <>
      <h1>{text("title")}</h1>
      <PageTabs
        label={text("views")}
        tabs={[
          { href: "/tasks", label: text("tasks"), isCurrent: !isNotices },
          { href: "/notices", label: text("notices"), isCurrent: isNotices },
        ]}
      />
      {isNotices ? <NoticesView /> : <TaskList query={query} />}
    </>
  );
}
