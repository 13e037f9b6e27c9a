import { defineStore } from 'pinia'
import { ref } from 'vue'

import { get } from '../api'
import type { Agent, Project } from '../types'

/** What changes rarely: the projects and the agents. */
export const useInstalled = defineStore('installed', () => {
  const projects = ref<Project[]>([])
  const agents = ref<Agent[]>([])

  async function loadProjects(): Promise<void> {
    projects.value = await get<Project[]>('/api/projects')
  }

  async function loadAgents(): Promise<void> {
    if (!agents.value.length) agents.value = await get<Agent[]>('/api/agents')
  }

  return { projects, agents, loadProjects, loadAgents }
})
