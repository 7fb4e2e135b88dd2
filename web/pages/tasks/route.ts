import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/tasks", "/tasks/:task", "/notices"],
  label: { en: "Tasks", zh: "任务" },
  navigation: { order: 4, key: "t" },
  load: () => import("./page.tsx"),
};
