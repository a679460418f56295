ALTER TABLE "ops"."deeds" RENAME TO "commands";--> statement-breakpoint
ALTER TABLE "ops"."commands" RENAME CONSTRAINT "deeds_once" TO "commands_once";--> statement-breakpoint
ALTER TABLE "ops"."commands" RENAME CONSTRAINT "deeds_words" TO "commands_words";--> statement-breakpoint
ALTER INDEX "ops"."deeds_pkey" RENAME TO "commands_pkey";--> statement-breakpoint
ALTER TABLE "ops"."outcomes" RENAME COLUMN "deed_id" TO "command_id";--> statement-breakpoint
ALTER TABLE "ops"."outcomes" RENAME COLUMN "told_at" TO "recorded_at";--> statement-breakpoint
ALTER TABLE "ops"."outcomes" RENAME CONSTRAINT "outcomes_deed_id_deeds_id_fk" TO "outcomes_command_id_commands_id_fk";
