import { defineStore } from 'pinia'
import { ref } from 'vue'

import { get } from '../api'
import type { Agent, Project } from '../types'

/** What changes rarely: the projects and the agents. */
export const useInstalled = defineStore('installed', () => {
  const projects = ref<Project[]>([])
  const agents = ref<Agent[]>([])

  let loading: Promise<Agent[]> | null = null

  async function loadProjects(): Promise<void> {
    projects.value = await get<Project[]>('/api/projects')
  }

  /** Once: their modules are imported for it, which takes the server a while. */
  async function loadAgents(): Promise<void> {
    loading ??= get<Agent[]>('/api/agents')
    try {
      agents.value = await loading
    } catch (error) {
      loading = null
      throw error
    }
  }

  return { projects, agents, loadProjects, loadAgents }
})
