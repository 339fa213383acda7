CREATE TABLE bots (
	id INTEGER NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	content VARCHAR(32) NOT NULL, 
	entry TEXT NOT NULL, 
	submitted_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE faults (
	tournament_id INTEGER NOT NULL, 
	"match" INTEGER NOT NULL, 
	seat INTEGER NOT NULL, 
	game VARCHAR(200) NOT NULL, 
	bot VARCHAR(140) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	PRIMARY KEY (tournament_id, "match", seat), 
	FOREIGN KEY(tournament_id) REFERENCES tournaments (id)
);
CREATE TABLE matches (
	tournament_id INTEGER NOT NULL, 
	"match" INTEGER NOT NULL, 
	encounter INTEGER NOT NULL, 
	game INTEGER NOT NULL, 
	seats TEXT NOT NULL, 
	opening INTEGER NOT NULL, 
	opening_actions TEXT NOT NULL, 
	rng_seed BIGINT NOT NULL, 
	PRIMARY KEY (tournament_id, "match"), 
	FOREIGN KEY(tournament_id) REFERENCES tournaments (id)
);
INSERT INTO "matches" VALUES(1,1,1,0,'[0,1]',0,'[[1,2]]',1);
INSERT INTO "matches" VALUES(1,2,1,0,'[1,0]',0,'[[1,2]]',2);
INSERT INTO "matches" VALUES(2,1,1,0,'[0,1]',0,'[[1,2]]',1);
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema_version','1');
CREATE TABLE records (
	tournament_id INTEGER NOT NULL, 
	"match" INTEGER NOT NULL, 
	game VARCHAR(200) NOT NULL, 
	bots TEXT NOT NULL, 
	ranks TEXT NOT NULL, 
	termination VARCHAR(16) NOT NULL, 
	start VARCHAR(32) NOT NULL, 
	digest VARCHAR(32) NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (tournament_id, "match"), 
	FOREIGN KEY(tournament_id) REFERENCES tournaments (id)
);
INSERT INTO "records" VALUES(1,1,'differences','["minimal@1","greedy@2"]','[1,1]','normal','ff52cb735505d52118abd735','1c96d0cce1925200fce0e154','{"match":1,"tournament":"t","game":"differences","options":{"size":2},"bots":["minimal@1","greedy@2"],"rng_seed":1,"encounter":1,"opening":0,"opening_plies":0,"actions":[[0,[1,1]],[1,[2,2]]],"scores":[1,1],"ranks":[1,1],"termination":"normal","faults":[],"wall_seconds":[0.1,0.2],"cpu_seconds":[null,null],"seats":[],"notes":[],"time_control":{"per_action_seconds":1.0,"bank_seconds":null,"increment_seconds":0.0,"startup_seconds":10.0,"margin_seconds":0.1,"clock":"wall","off_turn":"auto"},"isolation":"none","versions":{},"started_at":""}');
INSERT INTO "records" VALUES(2,1,'differences','["minimal@1","greedy@2"]','[1,1]','normal','ff52cb735505d52118abd735','1c96d0cce1925200fce0e154','{"match":1,"tournament":"t","game":"differences","options":{"size":2},"bots":["minimal@1","greedy@2"],"rng_seed":1,"encounter":1,"opening":0,"opening_plies":0,"actions":[[0,[1,1]],[1,[2,2]]],"scores":[1,1],"ranks":[1,1],"termination":"normal","faults":[],"wall_seconds":[0.1,0.2],"cpu_seconds":[null,null],"seats":[],"notes":[],"time_control":{"per_action_seconds":1.0,"bank_seconds":null,"increment_seconds":0.0,"startup_seconds":10.0,"margin_seconds":0.1,"clock":"wall","off_turn":"auto"},"isolation":"none","versions":{},"started_at":""}');
CREATE TABLE tournaments (
	id INTEGER NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	definition TEXT NOT NULL, 
	created_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "tournaments" VALUES(1,'half','{"games":[{"game":"differences","options":{"size":2},"players":2}],"entrants":[{"name":"minimal","version":"1","content":"","args":[]},{"name":"greedy","version":"2","content":"","args":[]}],"places":{"minimal":{"command":["x"]},"greedy":{"command":["y"]}}}','2026-11-21T14:41:29+00:00');
INSERT INTO "tournaments" VALUES(2,'whole','{"games":[{"game":"differences","options":{"size":2},"players":2}],"entrants":[{"name":"minimal","version":"1","content":"","args":[]},{"name":"greedy","version":"2","content":"","args":[]}],"places":{"minimal":{"command":["x"]},"greedy":{"command":["y"]}}}','2026-11-21T14:41:29+00:00');
CREATE TABLE voids (
	id INTEGER NOT NULL, 
	tournament_id INTEGER NOT NULL, 
	"match" INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(tournament_id) REFERENCES tournaments (id)
);
CREATE UNIQUE INDEX bots_by_name ON bots (name, version);
CREATE INDEX records_by_game ON records (game);
