"""A tracker of projects and their tasks: FastAPI, OpenAPI 3.1, bearer token, paging, a quota, nested collections.

`IOX_FAULT` selects one of the faults in `FAULTS`; `SERVICE_LOG` names a file that gets a line for every request.
"""

import datetime
import enum
import os
import sys
import time
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

FAULTS = {
    "delete-keeps": "deleting a project answers 204 and keeps the project",
    "patch-clears": "changing only the name of a project clears its description",
    "newest-missing": "a list of three or more tasks does not have the newest",
    "other-id": "the third task of a project is announced with the id of the second",
    "ghost": "a deleted task is still listed",
    "long-title": "a title of more than 60 characters, which is allowed, causes a 500",
    "accepted": "completing a task answers 202, which is not documented",
    "any-priority": "replacing a task accepts any priority",
}
FAULT = os.environ.get("IOX_FAULT", "")
TOKEN = os.environ.get("TRACKER_TOKEN", "tracker-secret")
MAX_PROJECTS = 60
MAX_TASKS = 200


class Visibility(str, enum.Enum):
    private = "private"
    team = "team"
    public = "public"


class Status(str, enum.Enum):
    open = "open"
    done = "done"


class ProjectIn(BaseModel):
    name: str = Field(min_length=1, max_length=40)
    description: str | None = Field(default=None, max_length=200)
    visibility: Visibility = Visibility.private


class ProjectPatch(BaseModel):
    name: str | None = Field(default=None, min_length=1, max_length=40)
    description: str | None = Field(default=None, max_length=200)
    visibility: Visibility | None = None


class Project(ProjectIn):
    id: int
    created_at: datetime.datetime
    open_tasks: int = Field(ge=0, description="The number of tasks that are not done")


class TaskIn(BaseModel):
    title: str = Field(min_length=1, max_length=80)
    priority: int = Field(default=3, ge=1, le=5)
    tags: list[Annotated[str, Field(min_length=1, max_length=12)]] = Field(default=[], max_length=5)
    due: datetime.date | None = None


class Task(TaskIn):
    id: int
    status: Status
    updated_at: datetime.datetime


class ProjectPage(BaseModel):
    items: list[Project]
    total: int = Field(ge=0)


class TaskPage(BaseModel):
    items: list[Task]
    total: int = Field(ge=0)


class Problem(BaseModel):
    detail: str


app = FastAPI(title="Tracker", version="1.4.0")
bearer = HTTPBearer()
projects: dict[int, dict] = {}
tasks: dict[int, dict[int, dict]] = {}
buried: dict[int, list[dict]] = {}
last = {"project": 0, "task": 0}


def check_token(credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)]):
    if credentials.credentials != TOKEN:
        raise HTTPException(401, "invalid token", {"WWW-Authenticate": "Bearer"})


def problems(*statuses):
    return {status: {"model": Problem} for status in (401, *statuses)}


@app.middleware("http")
async def log_request(request: Request, call_next):
    status = 500
    try:
        response = await call_next(request)
        status = response.status_code
        return response
    finally:
        if path := os.environ.get("SERVICE_LOG"):
            with open(path, "a") as log:
                log.write(f"{time.time():.3f} {request.method} {request.url.path} {status}\n")


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def find_project(project_id):
    if project_id not in projects:
        raise HTTPException(404, "no such project")
    return projects[project_id]


def find_task(project_id, task_id):
    find_project(project_id)
    if task_id not in tasks[project_id]:
        raise HTTPException(404, "no such task")
    return tasks[project_id][task_id]


def show(project):
    count = sum(task["status"] == Status.open for task in tasks[project["id"]].values())
    return {**project, "open_tasks": count}


def check_name(name, except_id=None):
    for project in projects.values():
        if project["name"].lower() == name.lower() and project["id"] != except_id:
            raise HTTPException(409, "another project has this name")


Limit = Annotated[int, Query(ge=1, le=50)]
Offset = Annotated[int, Query(ge=0)]
ProjectId = Annotated[int, Path(ge=1)]
TaskId = Annotated[int, Path(ge=1)]
secured = [Depends(check_token)]


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "ok"}


@app.get("/projects", response_model=ProjectPage, dependencies=secured, responses=problems())
def list_projects(limit: Limit = 20, offset: Offset = 0, visibility: Visibility | None = None):
    found = [show(p) for p in projects.values() if visibility in (None, p["visibility"])]
    return {"items": found[offset : offset + limit], "total": len(found)}


@app.post("/projects", status_code=201, response_model=Project, dependencies=secured, responses=problems(403, 409))
def create_project(body: ProjectIn):
    check_name(body.name)
    if len(projects) >= MAX_PROJECTS:
        raise HTTPException(403, "the quota of projects is used up")
    last["project"] += 1
    project = {"id": last["project"], "created_at": now(), **body.model_dump()}
    projects[project["id"]] = project
    tasks[project["id"]] = {}
    return show(project)


@app.get("/projects/{project_id}", response_model=Project, dependencies=secured, responses=problems(404))
def get_project(project_id: ProjectId):
    return show(find_project(project_id))


@app.patch("/projects/{project_id}", response_model=Project, dependencies=secured, responses=problems(404, 409))
def change_project(project_id: ProjectId, body: ProjectPatch):
    project = find_project(project_id)
    changes = body.model_dump(exclude_unset=True)
    # `null` for a member that cannot be null means "leave as it is".
    changes = {key: value for key, value in changes.items() if value is not None or key == "description"}
    if "name" in changes:
        check_name(changes["name"], project_id)
    if FAULT == "patch-clears" and list(changes) == ["name"]:
        changes["description"] = None
    project.update(changes)
    return show(project)


@app.delete("/projects/{project_id}", status_code=204, dependencies=secured, responses=problems(404))
def delete_project(project_id: ProjectId):
    find_project(project_id)
    if FAULT != "delete-keeps":
        del projects[project_id]
        del tasks[project_id]
    return Response(status_code=204)


@app.get("/projects/{project_id}/tasks", response_model=TaskPage, dependencies=secured, responses=problems(404))
def list_tasks(project_id: ProjectId, limit: Limit = 20, offset: Offset = 0, status: Status | None = None):
    find_project(project_id)
    all_tasks = list(tasks[project_id].values())
    if FAULT == "newest-missing" and len(all_tasks) >= 3:
        all_tasks.pop()
    if FAULT == "ghost":
        all_tasks += buried.get(project_id, [])
    found = [task for task in all_tasks if status in (None, task["status"])]
    return {"items": found[offset : offset + limit], "total": len(found)}


@app.post(
    "/projects/{project_id}/tasks",
    status_code=201,
    response_model=Task,
    dependencies=secured,
    responses=problems(403, 404),
)
def create_task(project_id: ProjectId, body: TaskIn):
    find_project(project_id)
    if len(tasks[project_id]) >= MAX_TASKS:
        raise HTTPException(403, "the quota of tasks is used up")
    if FAULT == "long-title" and len(body.title) > 60:
        raise RuntimeError("title does not fit its column")
    last["task"] += 1
    task = {"id": last["task"], "status": Status.open, "updated_at": now(), **body.model_dump()}
    task["tags"] = sorted({tag.lower() for tag in body.tags})
    previous = list(tasks[project_id])
    tasks[project_id][task["id"]] = task
    if FAULT == "other-id" and len(previous) == 2:
        return {**task, "id": previous[-1]}
    return task


@app.get("/projects/{project_id}/tasks/{task_id}", response_model=Task, dependencies=secured, responses=problems(404))
def get_task(project_id: ProjectId, task_id: TaskId):
    return find_task(project_id, task_id)


def replace(task, body, priority):
    task.update(body.model_dump(), priority=priority, updated_at=now())
    task["tags"] = sorted({tag.lower() for tag in body.tags})
    return task


if FAULT == "any-priority":

    class LooseTaskIn(TaskIn):
        priority: int = 3

    @app.put("/projects/{project_id}/tasks/{task_id}", dependencies=secured, include_in_schema=False)
    def replace_task_loosely(project_id: ProjectId, task_id: TaskId, body: LooseTaskIn):
        task = replace(find_task(project_id, task_id), body, min(5, max(1, body.priority)))
        return JSONResponse(Task(**task).model_dump(mode="json"))


@app.put("/projects/{project_id}/tasks/{task_id}", response_model=Task, dependencies=secured, responses=problems(404))
def replace_task(project_id: ProjectId, task_id: TaskId, body: TaskIn):
    return replace(find_task(project_id, task_id), body, body.priority)


@app.delete("/projects/{project_id}/tasks/{task_id}", status_code=204, dependencies=secured, responses=problems(404))
def delete_task(project_id: ProjectId, task_id: TaskId):
    buried.setdefault(project_id, []).append(find_task(project_id, task_id))
    del tasks[project_id][task_id]
    return Response(status_code=204)


@app.post(
    "/projects/{project_id}/tasks/{task_id}/complete",
    response_model=Task,
    dependencies=secured,
    responses=problems(404, 409),
)
def complete_task(project_id: ProjectId, task_id: TaskId, response: Response):
    task = find_task(project_id, task_id)
    if task["status"] == Status.done:
        raise HTTPException(409, "the task is done already")
    task.update(status=Status.done, updated_at=now())
    if FAULT == "accepted":
        response.status_code = 202
    return task


if __name__ == "__main__":
    if FAULT and FAULT not in FAULTS:
        sys.exit(f"unknown fault {FAULT}: one of {', '.join(FAULTS)}")
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
