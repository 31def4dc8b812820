"""Recipes with ratings: Flask with flask-smorest, OpenAPI 3.0, OAuth2 with a password, pages in a header, slugs.

`IOX_FAULT` selects one of the faults in `FAULTS`; `SERVICE_LOG` names a file that gets a line for every request.
"""

import datetime
import logging
import os
import re
import secrets
import sys
import time

import flask
import marshmallow as ma
from flask.views import MethodView
from flask_smorest import Api, Blueprint, Page, abort

FAULTS = {
    "old-rating": "from the third rating on, the average of a recipe does not change",
    "first-ingredient": "replacing a recipe stores only its first ingredient",
    "refused-delete": "deleting a published recipe is refused, but the recipe is gone",
    "page-repeats": "the second page begins with the last recipe of the first",
    "title-taken": "the title of a deleted recipe cannot be used again",
    "any-minutes": "zero and negative minutes are accepted",
    "rating-text": "a recipe without ratings has the text `none` as its rating",
    "latin-only": "a title with a character outside of Latin-1 causes a 500",
}
FAULT = os.environ.get("IOX_FAULT", "")
USER, PASSWORD = "cook", "cook-secret"
# A token for scripts, beside those that `/oauth/token` gives.
TOKEN = os.environ.get("RECIPES_TOKEN", "recipes-token")
TOKEN_SECONDS = 300
MAX_RECIPES = 150


class IngredientSchema(ma.Schema):
    name = ma.fields.String(required=True, validate=ma.validate.Length(1, 30))
    grams = ma.fields.Integer(required=True, validate=ma.validate.Range(1, 5000))


class RecipeSchema(ma.Schema):
    id = ma.fields.Integer(dump_only=True)
    slug = ma.fields.String(dump_only=True)
    # A slug needs a letter or a digit.
    title = ma.fields.String(
        required=True, validate=[ma.validate.Length(1, 60), ma.validate.Regexp(r"[\s\S]*[A-Za-z0-9]")]
    )
    minutes = ma.fields.Integer(required=True, validate=ma.validate.Range(1, 1440))
    course = ma.fields.String(load_default="main", validate=ma.validate.OneOf(["starter", "main", "dessert"]))
    ingredients = ma.fields.List(
        ma.fields.Nested(IngredientSchema), required=True, validate=ma.validate.Length(1, 10)
    )
    published = ma.fields.Boolean(dump_only=True)
    rating = ma.fields.Float(dump_only=True, allow_none=True)
    changed = ma.fields.DateTime(dump_only=True)


class RatingSchema(ma.Schema):
    stars = ma.fields.Integer(required=True, validate=ma.validate.Range(1, 5))
    comment = ma.fields.String(validate=ma.validate.Length(max=140))


class FilterSchema(ma.Schema):
    course = ma.fields.String(validate=ma.validate.OneOf(["starter", "main", "dessert"]))
    published = ma.fields.Boolean()


class LoginSchema(ma.Schema):
    grant_type = ma.fields.String(required=True, validate=ma.validate.OneOf(["password"]))
    username = ma.fields.String(required=True)
    password = ma.fields.String(required=True, load_only=True)


class TokenSchema(ma.Schema):
    access_token = ma.fields.String(required=True)
    token_type = ma.fields.String(required=True)
    expires_in = ma.fields.Integer(required=True)


app = flask.Flask("recipes")
app.config.update(
    API_TITLE="Recipes",
    API_VERSION="v1",
    OPENAPI_VERSION="3.0.3",
    OPENAPI_URL_PREFIX="/",
    OPENAPI_JSON_PATH="openapi.json",
    API_SPEC_OPTIONS={
        "security": [{"password": []}],
        "components": {
            "securitySchemes": {
                "password": {
                    "type": "oauth2",
                    "flows": {"password": {"tokenUrl": "/oauth/token", "scopes": {}}},
                }
            }
        },
    },
)
api = Api(app)
recipes: dict[int, dict] = {}
ratings: dict[int, list[dict]] = {}
tokens: dict[str, float] = {}
used_slugs: set[str] = set()
last = {"id": 0}


@app.before_request
def check_token():
    if flask.request.path in ("/openapi.json", "/oauth/token"):
        return
    kind, _, token = flask.request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or (token != TOKEN and tokens.get(token, 0) < time.time()):
        abort(401, message="the token is missing, wrong or expired", headers={"WWW-Authenticate": "Bearer"})


@app.after_request
def log_request(response):
    if path := os.environ.get("SERVICE_LOG"):
        with open(path, "a") as log:
            log.write(f"{time.time():.3f} {flask.request.method} {flask.request.path} {response.status_code}\n")
    return response


def find(recipe_id):
    if recipe_id not in recipes:
        abort(404, message="no such recipe")
    return recipes[recipe_id]


def make_slug(title, except_id=None):
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    taken = {recipe["slug"] for recipe in recipes.values() if recipe["id"] != except_id}
    if slug in taken or (FAULT == "title-taken" and slug in used_slugs):
        abort(409, message="another recipe has this title")
    if FAULT == "latin-only":
        title.encode("latin-1")
    return slug


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def show(recipe):
    stars = [rating["stars"] for rating in ratings[recipe["id"]]]
    if FAULT == "old-rating":
        stars = stars[:2]
    return {**recipe, "rating": round(sum(stars) / len(stars), 2) if stars else None}


class RecipeReply(RecipeSchema):
    class Meta:
        ordered = True

    @ma.post_dump
    def plant(self, data, **_):
        if FAULT == "rating-text" and data["rating"] is None:
            data["rating"] = "none"
        return data


# The fault widens what is accepted; the description is made from the schema that is checked otherwise.
if FAULT == "any-minutes":

    class RecipeRequest(RecipeSchema):
        @ma.pre_load
        def clamp(self, data, **_):
            if isinstance(data, dict) and isinstance(data.get("minutes"), int) and data["minutes"] < 1:
                data = {**data, "minutes": 1}
            return data

else:
    RecipeRequest = RecipeSchema

login = Blueprint("login", "login", url_prefix="/oauth")
blueprint = Blueprint("recipes", "recipes", url_prefix="/recipes")


@login.route("/token", methods=["POST"])
@login.doc(security=[])
@login.arguments(LoginSchema, location="form")
@login.response(200, TokenSchema)
@login.alt_response(401, description="user or password are wrong")
def make_token(data):
    if (data["username"], data["password"]) != (USER, PASSWORD):
        abort(401, message="user or password are wrong")
    token = secrets.token_hex(16)
    tokens[token] = time.time() + TOKEN_SECONDS
    return {"access_token": token, "token_type": "bearer", "expires_in": TOKEN_SECONDS}


class Cursor(Page):
    @property
    def item_count(self):
        return len(self.collection)

    @property
    def items(self):
        first = self.page_params.first_item
        if FAULT == "page-repeats" and self.page_params.page == 2:
            first -= 1
        return self.collection[first : self.page_params.last_item + 1]


@blueprint.route("/")
class Recipes(MethodView):
    @blueprint.arguments(FilterSchema, location="query")
    @blueprint.response(200, RecipeReply(many=True))
    @blueprint.paginate(Cursor, page_size=10, max_page_size=50)
    def get(self, filters):
        """List recipes, oldest first"""
        return [
            show(recipe)
            for recipe in recipes.values()
            if all(recipe[name] == value for name, value in filters.items())
        ]

    @blueprint.arguments(RecipeRequest)
    @blueprint.response(201, RecipeReply)
    @blueprint.alt_response(409, description="another recipe has this title, or there are too many")
    def post(self, data):
        """Add a recipe"""
        slug = make_slug(data["title"])
        if len(recipes) >= MAX_RECIPES:
            abort(409, message="there are too many recipes")
        last["id"] += 1
        recipe = {"id": last["id"], "slug": slug, "published": False, "changed": now(), **data}
        recipes[recipe["id"]] = recipe
        ratings[recipe["id"]] = []
        used_slugs.add(slug)
        return show(recipe)


@blueprint.route("/<int:recipe_id>")
class Recipe(MethodView):
    @blueprint.response(200, RecipeReply)
    @blueprint.alt_response(404, description="no such recipe")
    def get(self, recipe_id):
        """Get a recipe"""
        return show(find(recipe_id))

    @blueprint.arguments(RecipeRequest)
    @blueprint.response(200, RecipeReply)
    @blueprint.alt_response(404, description="no such recipe")
    @blueprint.alt_response(409, description="another recipe has this title")
    def put(self, data, recipe_id):
        """Replace a recipe"""
        recipe = find(recipe_id)
        slug = make_slug(data["title"], recipe_id)
        if FAULT == "first-ingredient":
            data["ingredients"] = data["ingredients"][:1]
        recipe.update(data, slug=slug, changed=now())
        return show(recipe)

    @blueprint.response(204)
    @blueprint.alt_response(404, description="no such recipe")
    @blueprint.alt_response(409, description="the recipe is published")
    def delete(self, recipe_id):
        """Delete a recipe that is not published"""
        recipe = find(recipe_id)
        if recipe["published"] and FAULT != "refused-delete":
            abort(409, message="the recipe is published")
        del recipes[recipe_id]
        del ratings[recipe_id]
        if recipe["published"]:
            abort(409, message="the recipe is published")


@blueprint.route("/<int:recipe_id>/publish", methods=["POST"])
@blueprint.response(200, RecipeReply)
@blueprint.alt_response(404, description="no such recipe")
@blueprint.alt_response(409, description="the recipe is published already")
def publish(recipe_id):
    """Publish a recipe"""
    recipe = find(recipe_id)
    if recipe["published"]:
        abort(409, message="the recipe is published already")
    recipe.update(published=True, changed=now())
    return show(recipe)


@blueprint.route("/<int:recipe_id>/ratings")
class Ratings(MethodView):
    @blueprint.response(200, RatingSchema(many=True))
    @blueprint.alt_response(404, description="no such recipe")
    def get(self, recipe_id):
        """List the ratings of a recipe"""
        find(recipe_id)
        return ratings[recipe_id]

    @blueprint.arguments(RatingSchema)
    @blueprint.response(201, RatingSchema)
    @blueprint.alt_response(404, description="no such recipe")
    def post(self, data, recipe_id):
        """Rate a recipe"""
        find(recipe_id)
        ratings[recipe_id].append(data)
        return data


api.register_blueprint(login)
api.register_blueprint(blueprint)

if __name__ == "__main__":
    if FAULT and FAULT not in FAULTS:
        sys.exit(f"unknown fault {FAULT}: one of {', '.join(FAULTS)}")
    logging.getLogger("werkzeug").disabled = True
    flask.cli.show_server_banner = lambda *_: None
    app.run("127.0.0.1", int(sys.argv[1]), threaded=False)
