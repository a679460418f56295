CREATE TABLE "chain_relayer"."pauses" (
	"what" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone,
	"revision" integer NOT NULL,
	"set_by" text NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
