import { createRouter, createWebHistory } from 'vue-router'

import RunsView from './views/RunsView.vue'

export const router = createRouter({
  history: createWebHistory(),
  scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? undefined : { top: 0 }),
  routes: [
    { path: '/', component: RunsView, meta: { title: 'Runs' } },
    { path: '/new', component: () => import('./views/NewRunView.vue'), meta: { title: 'New run' } },
    {
      path: '/runs/:id',
      component: () => import('./views/RunView.vue'),
      props: true,
      meta: { title: 'Run' },
    },
    {
      path: '/plugins',
      component: () => import('./views/PluginsView.vue'),
      meta: { title: 'Plugins' },
    },
    {
      path: '/memory',
      component: () => import('./views/MemoryView.vue'),
      meta: { title: 'Memory' },
    },
    {
      path: '/configuration',
      component: () => import('./views/ConfigurationView.vue'),
      meta: { title: 'Configuration' },
    },
    { path: '/:rest(.*)', component: () => import('./views/NotFoundView.vue') },
  ],
})

// After the server was updated, what the open page still wants to load is gone.
router.onError((error, to) => {
  if (/dynamically imported module|Importing a module/.test(String(error)))
    location.assign(to.fullPath)
})
